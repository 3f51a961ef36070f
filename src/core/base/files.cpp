#include "files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/words.hpp"

namespace kestrel {

std::string file_kind(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return errno == ENOENT ? "none" : "unreachable";
  if (S_ISREG(found.st_mode)) return "file";
  return S_ISDIR(found.st_mode) ? "folder" : "other";
}

namespace {

// The error code with which the system refuses `bytes` in an open file, or 0.
int refusal(int file, double bytes) {
  rlimit limit;
  // A process that writes past this limit is ended by the system.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes > static_cast<double>(limit.rlim_cur)) {
    return EFBIG;
  }
  if (bytes > 0x1p62) return EFBIG;
#ifdef __linux__
  int result;
  do {
    result = fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
#else
  (void)file;
#endif
  return 0;
}

}  // namespace

std::string reserve_file(const std::string& path, double bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  const int code = bytes >= 1 ? refusal(file, bytes) : 0;
  close(file);
  return code == 0 ? "" : std::strerror(code);
}

std::uint64_t checksum(const unsigned char* bytes, std::size_t size, std::uint64_t state) {
  for (std::size_t first = 0; first < size; first += kWordBytes) {
    const bool whole = size - first >= kWordBytes;
    unsigned char rest[kWordBytes] = {};
    if (!whole) std::copy(bytes + first, bytes + size, rest);
    const std::uint64_t word = load_word(whole ? bytes + first : rest);
    // SplitMix64's factors. They are odd; the right shifts between them mix high bits into low
    // ones.
    state = (state ^ word) * 0xbf58476d1ce4e5b9u + 1;
    state = (state ^ (state >> 32)) * 0x94d049bb133111ebu;
    state ^= state >> 29;
  }
  return state;
}

}  // namespace kestrel
