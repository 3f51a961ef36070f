// What R lacks for files: kinds, reserved room, checksums.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.hpp"
#include "gtest/gtest.h"

using namespace kestrel;

namespace {

// A temporary folder for a test.
std::string new_folder() {
  std::string name = testing::TempDir() + "kestrel-files-XXXXXX";
  EXPECT_NE(mkdtemp(&name[0]), nullptr);
  return name;
}

std::vector<unsigned char> some_bytes(std::size_t n) {
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(37 * i + i / 7);
  return bytes;
}

}  // namespace

TEST(FileKind, IsWhatTheNameStandsFor) {
  const std::string folder = new_folder();
  const std::string pipe = folder + "/pipe", link = folder + "/link", loop = folder + "/loop";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(file_kind(folder), "folder");
  EXPECT_EQ(file_kind(pipe), "other");
  EXPECT_EQ(file_kind("/dev/null"), "other");
  ASSERT_EQ(symlink("new", link.c_str()), 0);
  EXPECT_EQ(file_kind(link), "none");
  EXPECT_EQ(reserve_file(folder + "/new", 0), "");
  EXPECT_EQ(file_kind(link), "file");
  ASSERT_EQ(symlink("loop", loop.c_str()), 0);
  EXPECT_EQ(file_kind(loop), "unreachable");
  EXPECT_EQ(file_kind(folder + "/new/below"), "unreachable");
  EXPECT_EQ(file_kind(folder + "/" + std::string(300, 'a')), "unreachable");
}

TEST(ReserveFile, KeepsTheSizeAndSaysWhatIsInTheWay) {
  const std::string file = new_folder() + "/file";
  EXPECT_EQ(reserve_file(file, 1e6), "");
  struct stat found;
  ASSERT_EQ(stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_size, 0);
  EXPECT_NE(reserve_file(file, 1e18), "");
  EXPECT_NE(reserve_file(file, 1e300), "");
  EXPECT_NE(reserve_file(file + "/below", 8), "");
}

// Writing beyond a limit on the size of files would end the process; reserve_file() refuses
// instead.
TEST(ReserveFile, RespectsALimitOfSizes) {
  const std::string file = new_folder() + "/file";
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit low = old;
  low.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::string within = reserve_file(file, 1000), beyond = reserve_file(file, 1001);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(within, "");
  EXPECT_NE(beyond, "");
}

TEST(Checksum, OfPartsIsThatOfTheWhole) {
  const std::vector<unsigned char> bytes = some_bytes(1003);
  const std::uint64_t whole = checksum(bytes.data(), bytes.size(), 0);
  for (const std::size_t cut : {0, 8, 512, 1000}) {
    EXPECT_EQ(checksum(bytes.data() + cut, bytes.size() - cut, checksum(bytes.data(), cut, 0)),
              whole);
  }
}

// One bit anywhere, and the highest bits of two words, which would cancel in a product alone.
TEST(Checksum, ChangesWithTheBytes) {
  std::vector<unsigned char> bytes = some_bytes(200);
  std::set<std::uint64_t> found{checksum(bytes.data(), bytes.size(), 0)};
  std::size_t count = 1;
  const auto flip = [&](std::size_t bit) { bytes[bit / 8] ^= 1u << (bit % 8); };
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit, ++count) {
    flip(bit);
    found.insert(checksum(bytes.data(), bytes.size(), 0));
    flip(bit);
  }
  for (std::size_t word = 1; word < bytes.size() / 8; ++word, ++count) {
    for (const std::size_t bit : {std::size_t{63}, 64 * word + 63}) flip(bit);
    found.insert(checksum(bytes.data(), bytes.size(), 0));
    for (const std::size_t bit : {std::size_t{63}, 64 * word + 63}) flip(bit);
  }
  EXPECT_EQ(found.size(), count);
}
