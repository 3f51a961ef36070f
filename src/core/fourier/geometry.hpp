// Where the samples of the `fourier` engine lie on its grid, and which frequencies it keeps, as
// follows from the bandwidths and the tolerance.
//
// The engine works in coordinates z = L^-1 (x - centre), padded to three axes: variable k of d is
// axis k + 3 - d, and the axes before it have one cell. Centring first makes a far origin harmless:
// x - c is exact for nearby numbers. L is any square root of any scale matrix Sigma. A grid is made
// for bandwidth matrices between min^2 Sigma and max^2 Sigma.
#ifndef KESTREL_CORE_FOURIER_GEOMETRY_HPP
#define KESTREL_CORE_FOURIER_GEOMETRY_HPP

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/transform.hpp"

namespace kestrel {

using Point3 = std::array<double, 3>;

/// The limits of a tolerance.
constexpr double kMinFourierTolerance = 1e-13, kMaxFourierTolerance = 0.01;

/// Throws error(input) for a tolerance that is not within these.
void check_fourier_tolerance(double tolerance);

/// Whether L is so strongly correlated that FourierGeometry::correlated has to be set.
bool is_strongly_correlated(Span<const double> root, std::size_t d);

/// The requirements of a grid.
struct FourierDemand {
  /// Lower Cholesky factor of Sigma, d*d column-major, in the units of x; empty for that of the
  /// sample covariance.
  std::vector<double> root;
  /// Bandwidths h, in units of Sigma^(1/2): matrices H with min^2 Sigma <= H <= max^2 Sigma (as
  /// quadratic forms), and twice those.
  double min = 0, max = 0;
  /// Relative error of the sums; 0 for default_fourier_tolerance(d). Not below 1e-13.
  double tolerance = 0;
  /// Maximum memory of grid, modes and pairs of outliers.
  double bytes = 1e9;
  /// The error, relative to its largest value, of a density with the bandwidth `min` that the modes
  /// have to serve; 0 for none. With `phases` they keep what FourierModes::density_cells needs.
  double density_tolerance = 0;
  bool phases = false;
  /// The box of the grid by variable, in the units of x, if `boxed`; the root is diagonal then.
  /// Otherwise the cheapest box.
  Point3 low{}, high{};
  bool boxed = false;
};

/// 1e-12 for d <= 2. 1e-9 for d = 3, where the number of modes grows with the cube of the digits.
double default_fourier_tolerance(std::size_t d);

struct FourierGeometry {
  std::size_t d = 0;
  Point3 centre{};               // by variable
  std::array<double, 9> root{};  // L, d*d column-major
  Point3 scale{};                // 1 / L_kk
  double determinant = 1;        // of L
  /// Whether z is a difference of terms so large that doubles would lose its digits.
  bool correlated = false;
  double tolerance = 0, min = 0, max = 0;
  int taps = 0;  // of the window
  /// The Gaussian of `min` is cut off at |t| = cut / min: exp(-cut^2 / 2) = tolerance / 9.
  double cut = 0;
  /// The box of the samples on the grid; others are outliers, kept one by one.
  Point3 low{}, high{};
  bool trimmed = false;
  /// Whether the modes are kept with their phases, for a density.
  bool phases = false;
  /// If one sample of a pair is an outlier, its Gaussian term is left out beyond this distance.
  double reach = 0;
  Point3 period{}, origin{};  // origin: of cell 0
  TransformBox box{};         // cells, and the modes kept

  std::size_t axis(std::size_t variable) const { return variable + 3 - d; }
  /// z of sample i.
  Point3 whiten(const MatrixView& x, std::size_t i) const {
    return correlated ? whitened<long double>(x, i) : whitened<double>(x, i);
  }
  bool inside(const Point3& z) const {
    bool in = true;
    for (std::size_t a = 0; a < 3; ++a) in = in && z[a] >= low[a] && z[a] <= high[a];
    return in;
  }
  /// Distance between frequencies along an axis, 2 pi / period.
  double frequency_step(std::size_t axis) const;
  /// How many modes the half space has that is kept.
  std::size_t modes() const;
  /// Memory of the grid and the modes.
  double bytes() const;

 private:
  template <class Real>
  Point3 whitened(const MatrixView& x, std::size_t i) const {
    const auto from_centre = [&](std::size_t k) { return static_cast<Real>(x(i, k)) - centre[k]; };
    const Real first = from_centre(0) * scale[0];
    if (d == 1) return {0, 0, static_cast<double>(first)};
    const Real second = (from_centre(1) - root[1] * first) * scale[1];
    if (d == 2) return {0, static_cast<double>(first), static_cast<double>(second)};
    const Real third = (from_centre(2) - root[2] * first - root[5] * second) * scale[2];
    return {static_cast<double>(first), static_cast<double>(second), static_cast<double>(third)};
  }
};

/// Lays the grid. The frequencies are truncated at `cut` above (Greengard & Lee 2004; by the
/// positive definiteness of |phi|^2 the bound does not depend on n). The period is so long that the
/// nearest images of all pairs of samples add at most 0.3 tolerance to a sum with 2 max^2 Sigma, by
/// marginal histograms. If a grid over all samples would cost more than the pairs of its outliers,
/// the box is trimmed.
///
/// x: n*d samples, d = 1 to 3; w: n weights. O(n), or O(n log n) if trimming is considered. Throws
/// error(input) for other d, values that are not finite, weights that are negative or all zero, a
/// range or tolerance that is not positive, a covariance that is singular; error(memory) if `bytes`
/// are too few even with trimming.
FourierGeometry fourier_geometry(const MatrixView& x, Weights w, const FourierDemand& demand,
                                 const RunOptions& options);

/// For messages: "1.23 GB". O(1).
std::string gigabytes(double bytes);

}  // namespace kestrel

#endif
