// Sums of compact kernels with bandwidths that vary for the fake CUDA object: a plain loop over
// pairs. In single precision coordinates and terms are rounded as a device keeps them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fake-cuda.hpp"
#include "shared/profile.hpp"

namespace {

struct Variable {
  int device;
  kestrel_gpu_variable request;
  std::vector<double> x, w, h;

  double rounded(double value) const {
    return request.single_precision != 0 ? static_cast<double>(static_cast<float>(value)) : value;
  }
  /// Coordinate k as the sum of two numbers, in units.
  double coordinate(double value, std::size_t k) const {
    if (request.single_precision == 0) return value;
    const double z = (value - request.centre[k]) / request.unit;
    const double kept = std::min(std::max(z, -request.farthest), request.farthest);
    return rounded(kept) + rounded(kept - rounded(kept));
  }
};

/// The profile at the squared distance q.
template <kestrel::KernelForm kForm, int kInner, int kOuter>
double profile_at(double q) {
  if constexpr (kForm == kestrel::KernelForm::gaussian) {
    return std::nan("");
  } else if constexpr (kForm == kestrel::KernelForm::power && kOuter == 0) {
    return q <= 1 ? 1.0 : 0.0;
  } else {
    return kestrel::number::profile<kForm, kInner, kOuter>(-q);
  }
}

double value_at(int leaf, double q) {
  switch (leaf) {
#define KESTREL_KERNEL(name, form, inner, outer) \
  case KESTREL_GPU_##name:                       \
    return profile_at<kestrel::KernelForm::form, inner, outer>(q);
#include "shared/kernels.def"
    default: return std::nan("");
  }
}

}  // namespace

int fake_variable_open(int device, const kestrel_gpu_variable* request, const double* x,
                       std::size_t stride, const double* w, const double* h, std::size_t n,
                       const void* from, void** variable, char* problem, std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  auto* const made = new Variable{device, *request, {}, {}, {}};
  if (from != nullptr) {
    const auto& other = *static_cast<const Variable*>(from);
    made->x = other.x;
    made->w = other.w;
    made->h = other.h;
  } else {
    for (int k = 0; k < request->d; ++k) {
      const double* column = x + static_cast<std::size_t>(k) * stride;
      made->x.insert(made->x.end(), column, column + n);
    }
    made->w.assign(n, 1.0);
    if (w != nullptr) made->w.assign(w, w + n);
    if (h != nullptr) made->h.assign(h, h + n);
  }
  *variable = made;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int fake_variable_sum(void* handle, const double* e, std::size_t stride, const double* h,
                      std::size_t m, double* sum, kestrel_gpu_poll poll, void* context,
                      char* problem, std::size_t room) {
  const auto& variable = *static_cast<const Variable*>(handle);
  const int code = fake_failing("FAKE_CUDA_VARIABLE", variable.device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  const std::size_t d = static_cast<std::size_t>(variable.request.d), n = variable.w.size();
  for (std::size_t i = 0; i < m; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(m);
    if (fake_asked(poll, context, fraction) != 0) return KESTREL_GPU_STOPPED;
    sum[i] = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const double width = (h != nullptr ? h[i] : variable.h[j]) / variable.request.unit;
      double q = 0.0, weight = variable.w[j];
      for (std::size_t k = 0; k < d; ++k) {
        const double u = (variable.coordinate(e[k * stride + i], k) -
                          variable.coordinate(variable.x[k * n + j], k)) /
                         width;
        q += u * u;
        if (h == nullptr) weight /= width;
      }
      sum[i] += variable.rounded(weight * value_at(variable.request.leaf, q));
    }
  }
  return KESTREL_GPU_OK;
}

void fake_variable_close(void* variable) {
  if (variable == nullptr) return;
  fake_holds(-1);
  delete static_cast<Variable*>(variable);
}
