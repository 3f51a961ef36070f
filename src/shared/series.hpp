// Coefficients of a polynomial, constant first.
#ifndef KESTREL_SHARED_SERIES_HPP
#define KESTREL_SHARED_SERIES_HPP

namespace kestrel {

/// Device code cannot read arrays of the host, but it may have a `constexpr` copy of one of these.
template <int Terms>
struct Series {
  static constexpr int kTerms = Terms;
  double c[Terms];
};

}  // namespace kestrel

#endif
