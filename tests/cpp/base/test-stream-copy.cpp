// Copies past the caches: every length and every place within a cache line.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/stream_copy.hpp"

using kestrel::stream_copy;

TEST(StreamCopy, CopiesWhatItIsToldAndNoMore) {
  constexpr std::size_t kRoom = 64;
  std::vector<double> from(kRoom);
  std::iota(from.begin(), from.end(), 1.0);
  for (std::size_t source = 0; source < 3; ++source) {
    for (std::size_t place = 0; place < 10; ++place) {
      for (std::size_t count = 0; count + 13 <= kRoom; ++count) {
        std::vector<double> to(kRoom, 0.5), expected = to;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), count,
                    expected.begin() + static_cast<std::ptrdiff_t>(place));
        stream_copy(from.data() + source, count, to.data() + place);
        ASSERT_EQ(to, expected) << source << " " << place << " " << count;
      }
    }
  }
}
