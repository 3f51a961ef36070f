// The beta kernels of Chen (1999), second form.
#ifndef KESTREL_CORE_BETA_BETA_KERNEL_HPP
#define KESTREL_CORE_BETA_BETA_KERNEL_HPP

namespace kestrel {

/// At u in [0, 1] the kernel of x is the beta density of x with the shapes p = u / b and
/// q = (1 - u) / b, and near the ends, where one of these would be below 2, with a shape from 1 to
/// 2 there. 0 < b <= 1/4.
class BetaKernel {
 public:
  BetaKernel(double u, double b);

  /// The logarithm of the kernel at a distance y from the lower end, 0 < y < 1, or from the upper
  /// one. Error: some 1e-15 (1 + |u - x| / b), where the kernel counts some 1e-15 / sqrt(b).
  double log_at(double y, bool upper) const;
  /// The kernel at an end itself: that of another point's is zero, or without bound if a shape were
  /// below 1, which none is.
  double at_end(bool upper) const;
  /// The logarithm of the largest value.
  double log_peak() const { return peak_; }
  /// The x where it is, from the lower end.
  double mode() const { return mode_; }

 private:
  double by_powers(double y, bool upper) const;
  double by_deviance(double y, bool upper) const;

  double u_, b_;
  double p_, q_;       // less one each
  double log_beta_;    // of the powers
  double log_height_;  // of the deviance
  bool deviance_;
  double peak_, mode_;
};

}  // namespace kestrel

#endif
