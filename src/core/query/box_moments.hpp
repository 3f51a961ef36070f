// The mass in a box, and the mean and variance of one variable there.
#ifndef KESTREL_CORE_QUERY_BOX_MOMENTS_HPP
#define KESTREL_CORE_QUERY_BOX_MOMENTS_HPP

namespace kestrel {

/// square is the variance times the mass; mean and square are zero if there is no mass.
struct BoxMoments {
  double mass = 0.0, mean = 0.0, square = 0.0;

  /// Adds another part, without differences of large sums (Chan, Golub & LeVeque 1983).
  void merge(const BoxMoments& other) {
    if (!(other.mass > 0)) return;
    const double both = mass + other.mass, gap = other.mean - mean;
    const double share = other.mass / both;
    mean += share * gap;
    square += other.square + mass * share * gap * gap;
    mass = both;
  }
};

}  // namespace kestrel

#endif
