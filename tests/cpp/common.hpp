// What the tests of the engines share.
#ifndef KESTREL_TOOLS_COMMON_HPP
#define KESTREL_TOOLS_COMMON_HPP

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/kernel/kernel.hpp"
#include "shapes.hpp"
#include "simd/table.hpp"

extern "C" void __tsan_init() __attribute__((weak));
extern "C" void __asan_init() __attribute__((weak));

namespace common {

using kestrel::Kernel;
using kestrel::KernelChoice;
using kestrel::KernelType;

/// Whether the core is compiled under the thread or the address sanitizer: the same object files of
/// tests are linked to the cores with and without it.
inline bool under_tsan() { return __tsan_init != nullptr; }
inline bool under_asan() { return __asan_init != nullptr; }

/// Every instruction set that this machine has; a single one under the thread sanitizer, since
/// leaves share nothing.
inline std::vector<const kestrel::simd::Table*> tables() {
  const kestrel::simd::Table* found[kestrel::simd::kSets];
  const std::size_t n = kestrel::simd::available_tables(found);
  if (under_tsan()) return {found[n - 1]};
  return {found, found + n};
}

/// Numbers of threads that must give the bits of one thread. Under sanitizers, which are slow, only
/// three: what two threads can race for, three can, too.
inline std::vector<int> thread_counts() {
  if (under_tsan() || under_asan()) return {3};
  return {2, 3};
}

/// The same for the widest instruction set, and none for others: threads share work in the same way
/// whatever a leaf computes.
inline std::vector<int> thread_counts_of(const kestrel::simd::Table* table) {
  return table == tables().back() ? thread_counts() : std::vector<int>();
}

inline kestrel::RunOptions run_on(const kestrel::simd::Table* table, int threads = 1) {
  kestrel::RunOptions options;
  options.table = table;
  options.parallel.threads = threads;
  return options;
}

inline const char* kernel_name(Kernel kernel) { return kestrel::row_of(kernel).name; }

/// The kernels of which `holds` is true, in the order of the table.
inline std::vector<Kernel> kernels_where(bool (*holds)(Kernel)) {
  std::vector<Kernel> found;
  for (std::size_t k = 0; k < kestrel::kKernels; ++k) {
    if (holds(static_cast<Kernel>(k))) found.push_back(static_cast<Kernel>(k));
  }
  return found;
}

/// Every kernel, radial, and also product if the bandwidth is diagonal.
inline std::vector<KernelChoice> choices_for(const shapes::Shape& shape) {
  std::vector<KernelChoice> all;
  for (std::size_t k = 0; k < kestrel::kKernels; ++k) {
    const Kernel kernel = static_cast<Kernel>(k);
    all.push_back({kernel, KernelType::radial});
    if (shape.diagonal) all.push_back({kernel, KernelType::product});
  }
  return all;
}

inline std::string describe(const KernelChoice& choice) {
  return std::string(choice.type == KernelType::product ? "product " : "radial ") +
         kernel_name(choice.kernel);
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The name of a test's parameter.
struct NameOf {
  template <class Parameter>
  std::string operator()(const testing::TestParamInfo<Parameter>& info) const {
    return info.param.name;
  }
};
constexpr NameOf name_of;

}  // namespace common

namespace shapes {
inline void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }
}  // namespace shapes

#endif
