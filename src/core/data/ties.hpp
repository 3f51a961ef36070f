// Samples that are equal in every variable.
#ifndef KESTREL_CORE_DATA_TIES_HPP
#define KESTREL_CORE_DATA_TIES_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

struct Ties {
  double pairs = 0;   // ordered pairs (i, j), i != j, of equal samples
  double weight = 0;  // sum of p_i p_j over these
};

/// x: n*d samples, finite; p: n weights. Zeros of both signs are equal. O(n d) expected, with at
/// most 24 bytes a sample, and 16 more where there are ties; no memory for one variable in
/// ascending order. The same bits on any number of threads. Throws error(input) where sizes differ,
/// error(memory) for 2^31 samples or more.
Ties count_ties(const MatrixView& x, Weights p, const ParallelOptions& options);

}  // namespace kestrel

#endif
