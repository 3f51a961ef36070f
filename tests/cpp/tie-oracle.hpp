// The counters of ties of a sketch (simd/sketch/tie_hash.hpp), from their definition.
#ifndef KESTREL_TOOLS_TIE_ORACLE_HPP
#define KESTREL_TOOLS_TIE_ORACLE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/sketch/tie_counters.hpp"

namespace oracle {

/// A position along an axis: the number of the cell and the place in it, in quanta of 2^-44.
struct PlaceOfCell {
  std::int64_t cell, quanta;
};

class TieCounts {
 public:
  /// weight: a whole number.
  void add(const std::vector<PlaceOfCell>& axes, double weight) {
    const std::int64_t prime = 2147483647;
    Wide sum = 0;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      std::int64_t cell = axes[k].cell % prime;
      if (cell < 0) cell += prime;
      sum += Wide(number(4 + 3 * k)) * cell % prime;
      sum += Wide(number(5 + 3 * k)) * (axes[k].quanta / 4194304);
      sum += Wide(number(6 + 3 * k)) * (axes[k].quanta % 4194304);
    }
    const Wide whole = sum / 2147483648;
    const Wide v = (sum % 2147483648 + whole) % 1073741824;
    const Wide polynomial = number(0) * v * v % prime * v + number(1) * v * v + number(2) * v;
    const std::int64_t hash = static_cast<std::int64_t>((polynomial + number(3)) % prime);
    const int sign = (hash + whole) % 2 == 0 ? 1 : -1;
    samples_[static_cast<std::size_t>(hash / 32768)] += sign;
    weights_[static_cast<std::size_t>(hash / 32768)] += sign * static_cast<Wide>(weight);
  }
  void expect(const kestrel::TieCounters& got, bool any, bool weighted) const {
    ASSERT_EQ(got.samples.size(), any ? 65536u : 0u);
    ASSERT_EQ(got.weights.size(), any && weighted ? 65536u : 0u);
    for (std::size_t k = 0; k < got.samples.size(); ++k) EXPECT_EQ(got.samples[k], samples_[k]);
    for (std::size_t k = 0; k < got.weights.size(); ++k) {
      const Wide high = static_cast<Wide>(got.weights[k].high) * (static_cast<Wide>(1) << 64);
      EXPECT_TRUE(high + got.weights[k].low == weights_[k]) << k;
    }
  }

 private:
  __extension__ typedef __int128 Wide;

  std::vector<std::int64_t> samples_ = std::vector<std::int64_t>(65536, 0);
  std::vector<Wide> weights_ = std::vector<Wide>(65536, 0);

  /// 31 of every 32 bits of pi after the point.
  static std::int64_t number(std::size_t k) {
    static const std::string digits =
        "243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89"
        "452821e638d01377be5466cf34e90c6cc0ac29b7";
    return std::stoll(digits.substr(8 * k, 8), nullptr, 16) % 2147483648;
  }
};

}  // namespace oracle

#endif
