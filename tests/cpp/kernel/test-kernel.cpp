// Names and normalising constants of the kernels.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "oracle.hpp"

using namespace kestrel;
using namespace common;

TEST(KernelNames, AreKnownAndOthersAreListed) {
  for (std::size_t k = 0; k < kKernels; ++k) {
    EXPECT_EQ(static_cast<std::size_t>(kernel_of_name(kKernelRows[k].name)), k);
  }
  for (const char* wrong : {"", "Gaussian", "normal", "epan"}) {
    try {
      kernel_of_name(wrong);
      FAIL() << "nothing thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.kind, ErrorKind::input);
      for (const KernelRow& known : kKernelRows) {
        EXPECT_NE(std::string(e.what()).find(known.name), std::string::npos) << e.what();
      }
    }
  }
}

// Every profile is one at its centre.
TEST(KernelScale, IsTheHeightOfTheKernel) {
  for (const std::size_t d : {1, 2, 3, 4, 6, 16, 62}) {
    for (const double h : {1e-3, 1.0, 37.0, 1e3}) {
      for (const bool full : {false, true}) {
        shapes::Shape shape = shapes::make("kernel", 1, 1, d, h);
        if (full) shape = shapes::tilted(shape);
        for (const KernelChoice& choice : choices_for(shape)) {
          SCOPED_TRACE(describe(choice) + ", d = " + std::to_string(d));
          oracle::ScaledKernel kernel(choice, d, shape.root);
          const oracle::real wanted = kernel(shape.x.data(), 1, shape.x.data(), 1);
          const ScaledNumber got = kernel_scale(choice, d, shape.bandwidth());
          const oracle::real value =
              std::ldexp(static_cast<oracle::real>(got.mantissa), got.exponent);
          EXPECT_LE(std::fabs(value - wanted), 1e-13L * wanted);
        }
      }
    }
  }
}

TEST(KernelScale, RefusesWhatIsNoBandwidth) {
  const auto scale = [](std::vector<double> root, std::size_t d) {
    return kernel_scale({}, d, {root.data(), root.size()});
  };
  EXPECT_NO_THROW(scale({1, 0, 0, 2}, 2));
  for (const double wrong : {0.0, -2.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(scale({1, 0, 0, wrong}, 2), error) << wrong;
    EXPECT_THROW(scale({wrong}, 1), error) << wrong;
  }
  EXPECT_THROW(
      scale(std::vector<double>((kMaxDimension + 1) * (kMaxDimension + 1), 1.0), kMaxDimension + 1),
      error);
}

TEST(ScaledNumbers, KeepProductsThatLeaveTheRangeOfADouble) {
  ScaledNumber number;
  for (int i = 0; i < 10; ++i) number.divide(1e-100);
  for (int i = 0; i < 9; ++i) number.multiply(1e-100);
  EXPECT_NEAR(number.times(1.0) / 1e100, 1.0, 1e-14);
  EXPECT_EQ(number.times(0.0), 0.0);
  for (int i = 0; i < 5; ++i) number.divide(1e-100);
  EXPECT_EQ(number.times(0.0), 0.0);
  EXPECT_EQ(number.times(1.0), HUGE_VAL);
}
