// Kernel sums of samples that are all in reach of a point, by their moments.
//
// On its support a polynomial kernel in u^2 is a polynomial in the differences, so that the sum
// over samples is a polynomial in their moments: exact but for rounding, and of a cost that does
// not depend on how many samples there are.
#ifndef KESTREL_CORE_KDTREE_MOMENTS_HPP
#define KESTREL_CORE_KDTREE_MOMENTS_HPP

#include <cstddef>
#include <vector>

#include "core/kernel/kernel.hpp"

namespace kestrel {

/// The moments sum_j w_j z_j^b that a kernel's sum takes: its own monomials b, with all that divide
/// them. A set of moments is an array of count() numbers.
class KernelMoments {
 public:
  /// None (count() is 0) for a kernel that is no polynomial in u^2, or that has more than `most`
  /// monomials.
  KernelMoments(const KernelChoice& choice, std::size_t d, std::size_t most);

  /// How many there would be, or more than any limit for a kernel that is no polynomial in u^2.
  static double monomials(const KernelChoice& choice, std::size_t d);

  std::size_t count() const { return coefficient_.size(); }
  /// to += the moments of a sample with weight w at z. `power`: scratch for count() numbers.
  void add(double w, const double* z, double* power, double* to) const;
  /// The moments of the same samples, each moved by s.
  void move(const double* s, double* moments) const;
  /// The sum, without the kernel's constant, at the origin.
  double sum(const double* moments) const;

 private:
  struct Step {
    std::size_t to, from, axis;
  };
  void list_monomials(const KernelChoice& choice, std::size_t d);
  void expand(const KernelChoice& choice, std::size_t d);
  std::size_t find(const std::vector<int>& exponents) const;

  std::vector<std::vector<int>> monomial_;
  std::vector<Step> power_;  // each monomial but 1 as an earlier one times a coordinate
  std::vector<Step> move_;
  std::vector<double> coefficient_;
};

}  // namespace kestrel

#endif
