#include "core/query/ball_edges.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/small_matrix.hpp"

namespace kestrel {

std::vector<BallEdges> edges_behind(const std::vector<double>& root, std::size_t m, std::size_t i) {
  // The form of z on some of the axes i, ..., given the axes before i.
  const auto given = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t k = i; k <= std::min(a, b); ++k) sum += root[a * m + k] * root[b * m + k];
    return sum;
  };
  std::vector<BallEdges> all;
  for (std::size_t set = 1; set < (std::size_t{1} << (m - i - 1)); ++set) {
    std::vector<std::size_t> axes = {i};
    for (std::size_t k = i + 1; k < m; ++k) {
      if ((set >> (k - i - 1) & 1) != 0) axes.push_back(k);
    }
    std::vector<double> part;
    for (const std::size_t a : axes) {
      for (const std::size_t b : axes) part.push_back(given(a, b));
    }
    all.push_back({axes, inverse_matrix(part, axes.size())});
  }
  return all;
}

void add_kinks(const std::vector<BallEdges>& all, double unit, double left, const double* from,
               const double* to, const double* centre, Kinks* kinks) {
  const double begin = kinks->place[0], end = kinks->place[1];
  for (const BallEdges& edges : all) {
    const std::size_t size = edges.axes.size();
    for (std::size_t corner = 0; corner < (std::size_t{1} << (size - 1)); ++corner) {
      double at[kMaxRadialAxes] = {0.0, 0.0, 0.0}, linear = 0.0, constant = -left;
      for (std::size_t a = 1; a < size; ++a) {
        const std::size_t k = edges.axes[a];
        at[a] = ((corner >> (a - 1) & 1) != 0 ? to[k] : from[k]) - centre[k];
      }
      for (std::size_t a = 1; a < size; ++a) {
        linear += edges.form[a] * at[a];
        for (std::size_t b = 1; b < size; ++b) constant += edges.form[a * size + b] * at[a] * at[b];
      }
      // Solves unit^2 form u^2 + 2 unit linear u + constant = 0; there is no solution for infinite
      // limits.
      const double square = edges.form[0], under = linear * linear - square * constant;
      if (!(under >= 0) || !std::isfinite(under)) continue;
      for (const double sign : {-1.0, 1.0}) {
        const double u = (-linear + sign * std::sqrt(under)) / (square * unit);
        if (u > begin && u < end) kinks->add(u);
      }
    }
  }
}

}  // namespace kestrel
