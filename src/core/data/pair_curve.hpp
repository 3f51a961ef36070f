// The sums of which the curve of least-squares cross-validation consists.
#ifndef KESTREL_CORE_DATA_PAIR_CURVE_HPP
#define KESTREL_CORE_DATA_PAIR_CURVE_HPP

#include <vector>

namespace kestrel {

/// For each bandwidth h two sums over pairs i < j (Wand & Jones 1995, eq. 3.4), in units of 1/x.
struct PairCurve {
  std::vector<double> convolution;  // w_i w_j (K*K)_h(x_i - x_j)
  std::vector<double> kernel;       // w_i w_j K_h(x_i - x_j)
};

}  // namespace kestrel

#endif
