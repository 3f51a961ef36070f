// What R lacks for writing files whole: what a name stands for, reserving room for bytes before
// they are written, and a checksum.
#ifndef KESTREL_CORE_BASE_FILES_HPP
#define KESTREL_CORE_BASE_FILES_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace kestrel {

/// What a name stands for, links followed: "file", "folder", "none" if nothing has that name,
/// "other" for a device, a pipe or a socket, and "unreachable" if the system does not say.
std::string file_kind(const std::string& path);

/// Reserves room for `bytes` on the disk that the file is on. Creates the file if there is none,
/// and keeps its size as it is. Returns the system's error message, or "" if there is no error or
/// the file system cannot reserve room.
std::string reserve_file(const std::string& path, double bytes);

/// The checksum of bytes, continued from `state`, which is 0 at the start: one word of 8 bytes
/// after the other, lowest byte first, the last padded with zeros. Each step is a bijection of the
/// state and of the word, so that a difference in a single word always changes the checksum.
std::uint64_t checksum(const unsigned char* bytes, std::size_t size, std::uint64_t state);

}  // namespace kestrel

#endif
