#include "core/query/ball_edges.hpp"

#include <Eigen/LU>
#include <cmath>

namespace kestrel {

std::vector<BallEdges> edges_behind(const RadialMatrix& lower, std::size_t axis) {
  const Eigen::Index n = lower.rows(), i = static_cast<Eigen::Index>(axis);
  // The form of z on axes i, ..., given the axes before i.
  const RadialMatrix block = lower.bottomRightCorner(n - i, n - i);
  const RadialMatrix given = block * block.transpose();
  std::vector<BallEdges> all;
  for (std::size_t set = 1; set < (std::size_t{1} << (n - i - 1)); ++set) {
    BallEdges edges{{axis}, {}};
    std::vector<Eigen::Index> rows = {0};
    for (Eigen::Index k = 1; k < n - i; ++k) {
      if ((set >> (k - 1) & 1) == 0) continue;
      edges.axes.push_back(static_cast<std::size_t>(i + k));
      rows.push_back(k);
    }
    const Eigen::Index size = static_cast<Eigen::Index>(rows.size());
    RadialMatrix part(size, size);
    for (Eigen::Index a = 0; a < size; ++a) {
      for (Eigen::Index b = 0; b < size; ++b) {
        part(a, b) = given(rows[static_cast<std::size_t>(a)], rows[static_cast<std::size_t>(b)]);
      }
    }
    const RadialMatrix form = part.inverse();
    edges.form.assign(form.data(), form.data() + form.size());
    all.push_back(edges);
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
