// Integers of 128 bits, against those of the compiler.
#include <gtest/gtest.h>

#include <random>

#include "core/base/wide_integer.hpp"
#include "shapes.hpp"

using namespace kestrel;

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

Wide wide(const WideInteger& value) {
  return static_cast<Wide>(value.high) * (static_cast<Wide>(1) << 64) + value.low;
}

}  // namespace

TEST(WideInteger, IsTheInteger) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 2000; ++k) {
    const int bits = static_cast<int>(random() % 62) + 1;
    const WideInteger a(static_cast<std::int64_t>(random()) >> k % 64, random() >> k % 50);
    const WideInteger b(static_cast<std::int64_t>(random()) >> k % 60);
    WideInteger sum = a;
    sum += b;
    EXPECT_TRUE(wide(sum) == wide(a) + wide(b));
    EXPECT_TRUE(wide(-b) == -wide(b));
    EXPECT_TRUE(wide(a.shifted_down(bits)) == wide(a) >> bits);
    EXPECT_TRUE(wide(b.shifted(bits)) == wide(b) * (static_cast<Wide>(1) << bits));
    const std::int64_t factor = static_cast<std::int64_t>(random()) >> (33 + k % 31);
    const std::int64_t other = static_cast<std::int64_t>(random()) >> k % 64;
    EXPECT_TRUE(wide(WideInteger::product(other, factor)) == static_cast<Wide>(other) * factor);
    EXPECT_TRUE(wide(a.times(factor)) ==
                static_cast<Wide>(static_cast<UnsignedWide>(wide(a)) *
                                  static_cast<UnsignedWide>(static_cast<Wide>(factor))));
    EXPECT_LE(std::fabs(a.rounded() - a.value()), 0x1p-52 * std::fabs(a.value()) + 0x1p12);
    EXPECT_EQ(a < b, wide(a) < wide(b));
    EXPECT_EQ(a.value(), static_cast<double>(wide(a)));
    EXPECT_EQ(b.value(), static_cast<double>(wide(b)));
    const double value = std::floor(std::ldexp(shapes::normal(random), k % 120));
    EXPECT_TRUE(wide(WideInteger::of(value)) == static_cast<Wide>(value));
  }
  EXPECT_EQ(WideInteger(INT64_MIN, 0).value(), -std::ldexp(1.0, 127));
  EXPECT_TRUE(wide(WideInteger::product(INT64_MIN, -1)) == -static_cast<Wide>(INT64_MIN));
}
