// What R lacks for files that are written whole: what a name stands for, room for the bytes before
// they are there, and a checksum.
#ifndef KESTREL_CORE_BASE_FILES_HPP
#define KESTREL_CORE_BASE_FILES_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace kestrel {

/// What a name stands for, links followed: "file", "folder", "none" where nothing has that name,
/// "other" for a device, a pipe or a socket, and "unreachable" where the system does not say.
std::string file_kind(const std::string& path);

/// Room for `bytes` on the disk that the file is on, which is made where there is none; its size
/// stays what it is. Returns what the system says against it, or "" where it says nothing, as it
/// does where the file system cannot set room aside.
std::string reserve_file(const std::string& path, double bytes);

/// The checksum of bytes and of those that `state` stands for, 0 for none: one word of 8 bytes
/// after the other, lowest byte first, the last filled up with zeros. Each step is a bijection of
/// the state and of the word, so that one word that differs always makes another checksum.
std::uint64_t checksum(const unsigned char* bytes, std::size_t size, std::uint64_t state);

}  // namespace kestrel

#endif
