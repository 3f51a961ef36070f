// The only conversion from doubles to whole numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "core/base/whole.hpp"

using namespace kestrel;

namespace {

template <class Whole>
bool refused(double v) {
  try {
    whole_number<Whole>(v);
    return false;
  } catch (const error& problem) {
    return problem.kind == ErrorKind::internal;
  }
}

}  // namespace

TEST(WholeNumber, IsThatOfTheLanguageWhereThereIsOne) {
  EXPECT_EQ(whole_number<std::size_t>(0x1p63), std::size_t{1} << 63);
  EXPECT_EQ(whole_number<std::size_t>(-0.5), 0u);
  EXPECT_EQ(whole_number<std::uint32_t>(4294967295.9), 4294967295u);
  EXPECT_EQ(whole_number<std::int32_t>(-2147483648.0), -2147483647 - 1);
  EXPECT_EQ(whole_number<std::int32_t>(-3.9), -3);
  EXPECT_EQ(whole_number<int>(2147483647.0), 2147483647);
}

TEST(WholeNumber, IsRefusedElsewhere) {
  EXPECT_TRUE(refused<std::size_t>(0x1p64));
  EXPECT_TRUE(refused<std::size_t>(-1));
  EXPECT_TRUE(refused<std::uint32_t>(0x1p32));
  EXPECT_TRUE(refused<std::int32_t>(0x1p31));
  EXPECT_TRUE(refused<std::int32_t>(-0x1.8p31));
  EXPECT_TRUE(refused<std::int64_t>(0x1p63));
  for (const double none : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_TRUE(refused<std::size_t>(none));
    EXPECT_TRUE(refused<std::int32_t>(none));
  }
}
