// The table of kernels (shared/kernels.def) as C++, for the CPU and for CUDA.
#ifndef KESTREL_SHARED_KERNEL_HPP
#define KESTREL_SHARED_KERNEL_HPP

#include <cstddef>

namespace kestrel {

enum class Kernel {
#define KESTREL_KERNEL(name, form, inner, outer) name,
#include "shared/kernels.def"
};

enum class KernelForm { gaussian, power, cosine };

struct KernelRow {
  const char* name;
  KernelForm form;
  int inner, outer;  // of (1 - |u|^inner)^outer; 0 for the other forms
};

constexpr KernelRow kKernelRows[] = {
#define KESTREL_KERNEL(name, form, inner, outer) {#name, KernelForm::form, inner, outer},
#include "shared/kernels.def"
};
constexpr std::size_t kKernels = sizeof kKernelRows / sizeof kKernelRows[0];

constexpr const KernelRow& row_of(Kernel kernel) {
  return kKernelRows[static_cast<std::size_t>(kernel)];
}

constexpr bool is_compact(Kernel kernel) { return row_of(kernel).form != KernelForm::gaussian; }

/// (1 - |u|^inner)^outer: a polynomial in |u| on the kernel's support.
constexpr bool is_polynomial(Kernel kernel) { return row_of(kernel).form == KernelForm::power; }

/// Also a polynomial in u^2: it has no kink at u = 0.
constexpr bool is_even_polynomial(Kernel kernel) {
  return is_polynomial(kernel) && row_of(kernel).inner % 2 == 0;
}

/// One on the whole support, at whose edge it jumps: the uniform kernel.
constexpr bool is_indicator(Kernel kernel) {
  return is_polynomial(kernel) && row_of(kernel).outer == 0;
}

/// The same as constants, which code for a device may use; it may not call what returns them.
template <Kernel K>
struct KernelOf {
  static constexpr KernelForm kForm = row_of(K).form;
  static constexpr int kInner = row_of(K).inner, kOuter = row_of(K).outer;
  static constexpr bool kCompact = is_compact(K), kIndicator = is_indicator(K);
  /// Whether the profile is a power of 1 - q, where q = |u|^2, and not the constant one.
  static constexpr bool kPowerOfRest = is_polynomial(K) && !kIndicator && kInner == 2;
};

/// The degree of a polynomial kernel in |u|.
constexpr int kernel_degree(Kernel kernel) { return row_of(kernel).inner * row_of(kernel).outer; }

}  // namespace kestrel

#endif
