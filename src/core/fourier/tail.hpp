// Samples that the `fourier` engine leaves out of its grid because they lie far from the others,
// and the Gaussian terms of the pairs that one of them belongs to.
#ifndef KESTREL_CORE_FOURIER_TAIL_HPP
#define KESTREL_CORE_FOURIER_TAIL_HPP

#include <cstddef>
#include <functional>
#include <vector>

#include "core/fourier/geometry.hpp"

namespace kestrel {

/// Outliers, and the samples on the grid that may be within reach of one: those near the edge of
/// its box. Parts of the data add up.
struct FourierTail {
  std::vector<Point3> outlier, edge;
  std::vector<double> outlier_weight, edge_weight;

  void add(const FourierTail& other);
};

/// For a trimmed geometry: files the sample as an outlier or an edge sample, if it is either, and
/// returns whether it is an outlier. If the geometry's reach is zero, outliers are dropped.
bool file_sample(const FourierGeometry& geometry, const Point3& z, double weight,
                 FourierTail* tail);

/// Calls visit(a, b, w_a w_b) once for each pair of two outliers, and of an outlier and an edge
/// sample, whose distance along every axis is at most `reach`. Stops if visit returns false, and
/// returns whether it did not stop. O(m log m + pairs looked at), m samples in the tail; these are
/// the pairs in the same cube of side `reach` or in the 3^d - 1 cubes next to it.
using PairVisit = std::function<bool(const Point3&, const Point3&, double)>;
bool visit_tail_pairs(const FourierTail& tail, double reach, const PairVisit& visit);

}  // namespace kestrel

#endif
