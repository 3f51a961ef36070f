// Large pages are advice: memory of any place and size can be written afterwards.
#include <gtest/gtest.h>

#include <memory>

#include "core/base/large_pages.hpp"

using kestrel::prefer_large_pages;

TEST(LargePages, ChangeNoByteOfAnyMemory) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{100}, std::size_t{1} << 22, (std::size_t{1} << 24) + 8}) {
    for (const std::size_t skipped : {std::size_t{0}, std::size_t{8}, std::size_t{4088}}) {
      const std::unique_ptr<char[]> memory(new char[bytes + skipped + 1]);
      memory[0] = 'a';
      memory[bytes + skipped] = 'z';
      prefer_large_pages(memory.get() + skipped, bytes);
      for (std::size_t i = skipped; i < bytes + skipped; i += 1000) memory[i] = 'm';
      EXPECT_EQ(memory[0], bytes + skipped == 0 ? 'z' : skipped > 0 ? 'a' : 'm');
      EXPECT_EQ(memory[bytes + skipped], 'z');
    }
  }
}
