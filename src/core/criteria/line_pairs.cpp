#include "core/criteria/line_pairs.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/fgt/pairs.hpp"
#include "core/sweep/density.hpp"

namespace kestrel {

namespace {

void check_line(const Sample& sample) {
  if (sample.d() != 1) throw error(ErrorKind::internal, "a line has one variable");
}

/// The bandwidths h sqrt(S).
std::vector<double> multiples(Span<const double> S, Span<const double> h) {
  if (S.size != 1) throw error(ErrorKind::internal, "a bandwidth matrix of a wrong size");
  std::vector<double> out;
  for (const double one : h) out.push_back(one * std::sqrt(S[0]));
  return out;
}

Span<const double> span(const std::vector<double>& values) {
  return {values.data(), values.size()};
}

}  // namespace

FgtPairs::FgtPairs(const Sample& sample, const RunOptions& options)
    : PairSums(sample, options), sample_(sample) {
  check_line(sample);
}

std::vector<SumWithGradient> FgtPairs::gaussian(Span<const double> matrices, bool gradient,
                                                const RunOptions& options) {
  std::vector<double> g;
  for (const double M : matrices) g.push_back(std::sqrt(M));
  const std::vector<double> sums = laplacians(span(g), 0, options);
  // dK_M / dM = K_M'' / 2.
  const std::vector<double> slopes =
      gradient ? laplacians(span(g), 2, options) : std::vector<double>();
  std::vector<SumWithGradient> out(g.size());
  for (std::size_t k = 0; k < g.size(); ++k) {
    out[k].value = sums[k];
    if (gradient) out[k].gradient = {0.5 * slopes[k]};
  }
  return out;
}

PairCurve FgtPairs::curve(Span<const double> S, Span<const double> h, Kernel kernel,
                          const RunOptions& options) {
  if (kernel != Kernel::gaussian) {
    throw error(ErrorKind::internal, "the engine \"fgt\" takes the Gaussian kernel");
  }
  return in_shares(fgt_pair_curve(line_sample(sample_, options), span(multiples(S, h)), options));
}

std::vector<double> FgtPairs::laplacians(Span<const double> g, int order,
                                         const RunOptions& options) {
  return in_shares(fgt_pair_psi(line_sample(sample_, options), g, order, options));
}

SweepPairs::SweepPairs(const Sample& sample, const RunOptions& options)
    : PairSums(sample, options), sample_(sample) {
  check_line(sample);
}

PairCurve SweepPairs::curve(Span<const double> S, Span<const double> h, Kernel kernel,
                            const RunOptions& options) {
  return in_shares(
      sweep_pair_curve(sample_.x().column(0), sample_.w(), span(multiples(S, h)), kernel, options));
}

}  // namespace kestrel
