// Samples on a line that break fast sums: offsets, ties, clusters, outliers, decades.
#ifndef KESTREL_TOOLS_LINES_HPP
#define KESTREL_TOOLS_LINES_HPP

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "core/base/span.hpp"
#include "shapes.hpp"

namespace lines {

struct Line {
  std::string name;
  std::vector<double> x, w;

  kestrel::Span<const double> samples() const { return {x.data(), x.size()}; }
  kestrel::Span<const double> weights() const { return {w.data(), w.size()}; }
};

inline void PrintTo(const Line& line, std::ostream* out) { *out << line.name; }

inline Line make(const std::string& name, std::size_t n, const shapes::Draw& draw) {
  std::mt19937_64 random(std::hash<std::string>()(name));
  Line line{name, {}, std::vector<double>(n, 1.0)};
  for (std::size_t i = 0; i < n; ++i) line.x.push_back(draw(random));
  return line;
}

inline Line weighted(Line line, const std::string& suffix,
                     const std::function<double(std::size_t)>& weight) {
  line.name += suffix;
  for (std::size_t i = 0; i < line.x.size(); ++i) line.w[i] = weight(i);
  return line;
}

inline std::vector<Line> of_every_kind(std::size_t n) {
  const shapes::Draw normal = shapes::normal, uniform = shapes::uniform;
  std::vector<Line> all;
  all.push_back(make("uniform", n, uniform));
  all.push_back(make("normal", n, normal));
  all.push_back(make("cauchy", n, [](std::mt19937_64& random) {
    const double value = std::tan(3.141592653589793 * (shapes::uniform(random) - 0.5));
    return random() % 1000 == 0 ? 1e6 * value : value;
  }));
  all.push_back(make("offset", n, [=](std::mt19937_64& random) { return 1e9 + normal(random); }));
  all.push_back(make(
      "ties", n, [=](std::mt19937_64& random) { return 0.1 * std::round(10 * normal(random)); }));
  all.push_back(make("clusters", n, [=](std::mt19937_64& random) {
    const double k = static_cast<double>(random() % 7);
    return 1e6 * k / 6 + std::pow(10.0, -4 * k / 6) * normal(random);
  }));
  all.push_back(make("outliers", n, [=](std::mt19937_64& random) {
    return normal(random) * (random() % 1000 == 0 ? 1e6 : 1.0);
  }));
  double next = 0;
  all.push_back(make("grid", n, [next](std::mt19937_64&) mutable { return 0.25 * next++; }));
  all.push_back(make("decades", n, [=](std::mt19937_64& random) {
    return std::pow(10.0, 15 * uniform(random) - 5);
  }));
  all.push_back(make("equal", std::min<std::size_t>(n, 50), [](std::mt19937_64&) { return 3.25; }));
  const Line base = all[1];
  all.push_back(weighted(base, "_weighted", [](std::size_t i) { return 0.1 * (1 + i % 17); }));
  all.push_back(weighted(base, "_zero_weights", [](std::size_t i) { return i % 3 ? 1e-3 : 0.0; }));
  all.push_back(weighted(base, "_wild_weights", [](std::size_t i) {
    return std::pow(10.0, static_cast<double>(i % 13) - 6);
  }));
  all.push_back(weighted(base, "_one_heavy", [](std::size_t i) { return i == 7 ? 1e9 : 1.0; }));
  all.push_back(weighted(all[5], "_wild_weights", [](std::size_t i) {
    return std::pow(10.0, static_cast<double>(i % 13) - 6);
  }));
  return all;
}

inline std::vector<Line> of_every_small_size() {
  std::vector<Line> all;
  for (const std::size_t n : {1, 2, 3, 4, 7, 30}) {
    all.push_back(make("n" + std::to_string(n), n, shapes::normal));
  }
  return all;
}

/// `count` bandwidths from a hundredth of the median gap to the range, in equal ratios.
inline std::vector<double> bandwidths(const Line& line, std::size_t count = 7) {
  std::vector<double> sorted = line.x, gap;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] > sorted[i - 1]) gap.push_back(sorted[i] - sorted[i - 1]);
  }
  if (gap.empty()) return {0.7};
  std::nth_element(gap.begin(), gap.begin() + gap.size() / 2, gap.end());
  const double min = 0.01 * gap[gap.size() / 2], max = 1.1 * (sorted.back() - sorted.front());
  std::vector<double> h;
  for (std::size_t k = 0; k < count; ++k) {
    h.push_back(min * std::pow(max / min, static_cast<double>(k) / (count - 1)));
  }
  return h;
}

}  // namespace lines

#endif
