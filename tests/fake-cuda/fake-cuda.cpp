// A CUDA object that needs no CUDA: plain loops on the CPU, for the tests of src/gpu, and of R's
// part in tests/fake-cuda. The environment says how it fails: FAKE_CUDA_DEVICE, FAKE_CUDA_OPEN,
// FAKE_CUDA_SAMPLES, FAKE_CUDA_SUM, FAKE_CUDA_PAIRS, FAKE_CUDA_SLAB and FAKE_CUDA_REGRESSION hold
// the code that the function of that name fails with. From the fraction FAKE_CUDA_INTERRUPT of a
// call's work on, the process gets SIGINT before each poll. The fraction at which a poll stopped
// the call is left in FAKE_CUDA_STOPPED, and the number of open handles in FAKE_CUDA_HELD.
// FAKE_CUDA_VERSION is the version it was compiled for; FAKE_CUDA_NAMELESS leaves out the one
// symbol it should export.
#include "fake-cuda.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shared/coordinates.hpp"
#include "shared/profile.hpp"

#ifndef FAKE_CUDA_VERSION
#define FAKE_CUDA_VERSION KESTREL_GPU_VERSION
#endif

int fake_failing(const char* variable, char* problem, std::size_t room) {
  const char* code = std::getenv(variable);
  if (code == nullptr || *code == 0) return KESTREL_GPU_OK;
  std::snprintf(problem, room, "%s says %s", variable, code);
  return std::atoi(code);
}

namespace {

void leave_number(const char* variable, double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  setenv(variable, text, 1);
}

}  // namespace

int fake_asked(kestrel_gpu_poll poll, void* context, double fraction) {
  const char* from = std::getenv("FAKE_CUDA_INTERRUPT");
  if (from != nullptr && *from != 0 && fraction >= std::atof(from)) std::raise(SIGINT);
  const int stop = poll(context, fraction);
  if (stop != 0) leave_number("FAKE_CUDA_STOPPED", fraction);
  return stop;
}

void fake_holds(int more) {
  static int held = 0;
  held += more;
  leave_number("FAKE_CUDA_HELD", held);
}

namespace {

int device(kestrel_gpu_device* out, char* problem, std::size_t room) {
  *out = {};
  std::snprintf(out->name, sizeof out->name, "fake device");
  out->major = 9;
  out->multiprocessors = 132;
  return fake_failing("FAKE_CUDA_DEVICE", problem, room);
}

// ---- densities

struct Density {
  explicit Density(const kestrel_gpu_kernel& given)
      : kernel(given),
        d(static_cast<std::size_t>(given.d)),
        matrix(given.matrix, given.matrix + d * d),
        root(given.root, given.root + d * d),
        factor(given.factor,
               given.factor + given.moments * static_cast<std::size_t>(given.degree)) {}

  kestrel_gpu_kernel kernel;
  std::size_t d;
  std::vector<double> matrix, root, x, w;
  std::vector<int> factor;
};

int density_open(const kestrel_gpu_kernel* kernel, void** out, char* problem, std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  *out = new Density(*kernel);
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int density_samples(void* handle, const double* x, std::size_t stride, const double* w,
                    std::size_t n, char* problem, std::size_t room) {
  Density& density = *static_cast<Density*>(handle);
  const int code = fake_failing("FAKE_CUDA_SAMPLES", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  density.x.clear();
  for (std::size_t k = 0; k < density.d; ++k) {
    density.x.insert(density.x.end(), x + k * stride, x + k * stride + n);
  }
  density.w.assign(w, w + n);
  return KESTREL_GPU_OK;
}

/// Whitened coordinates of one point about the centre.
void whiten(std::size_t d, double farthest, const double* matrix, const double* centre,
            const double* from, std::size_t stride, double* z) {
  for (std::size_t k = 0; k < d; ++k) {
    z[k] = kestrel::number::whitened(from[k * stride], centre[k], matrix + k * d, k, false,
                                     farthest, [&](std::size_t l) { return z[l]; });
  }
}

/// The profile at the squared distance q. Not for the uniform kernel in several variables, whose
/// rim needs more than q.
template <kestrel::KernelForm kForm, int kInner, int kOuter>
double profile(double q) {
  if constexpr (kForm == kestrel::KernelForm::gaussian) {
    return std::exp2(-q);
  } else if constexpr (kForm == kestrel::KernelForm::power && kOuter == 0) {
    return std::nan("");
  } else {
    return kestrel::number::profile<kForm, kInner, kOuter>(-q);
  }
}

double value_of(int kernel, double q) {
  switch (kernel) {
#define KESTREL_KERNEL(name, form, inner, outer) \
  case KESTREL_GPU_##name:                       \
    return profile<kestrel::KernelForm::form, inner, outer>(q);
#include "shared/kernels.def"
    default: return std::nan("");
  }
}

double pair_value(const Density& density, const double* a, const double* b) {
  const int kernels = KESTREL_GPU_LEAVES / 2, kernel = density.kernel.leaf % kernels;
  const bool product = density.kernel.leaf >= kernels;
  double q = 0.0, value = 1.0;
  for (std::size_t k = 0; k < density.d; ++k) {
    const double square = (a[k] - b[k]) * (a[k] - b[k]);
    q += square;
    if (product) value *= value_of(kernel, square);
  }
  return product ? value : value_of(kernel, q);
}

double box_value(const Density& density, const double* e, std::size_t stride, std::size_t j) {
  for (std::size_t k = 0; k < density.d; ++k) {
    const double u = e[k * stride] - density.x[k * density.w.size() + j];
    if (!(std::fabs(u) <= density.root[k * density.d + k])) return 0.0;
  }
  return 1.0;
}

/// Adds the sample at z, of weight w, to the moments of point i of m.
void add_moments(const Density& density, const double* point, const double* z, double w,
                 std::size_t i, std::size_t m, double* sum) {
  const std::size_t d = density.d, moments = density.kernel.moments;
  std::vector<double> v;
  double q = 0.0;
  for (std::size_t k = 0; k < d; ++k) {
    v.push_back(point[k] - z[k]);
    q += v[k] * v[k];
  }
  v.push_back(1.0);
  for (std::size_t s = 0; s < moments; ++s) {
    double term = w * std::exp2(-q);
    for (int r = 0; r < density.kernel.degree; ++r) {
      term *=
          v[static_cast<std::size_t>(density.factor[static_cast<std::size_t>(r) * moments + s])];
    }
    sum[s * m + i] += term;
  }
}

int density_sum(void* handle, const double* centre, const double* e, std::size_t stride,
                std::size_t m, double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                std::size_t room) {
  const Density& density = *static_cast<const Density*>(handle);
  const std::size_t d = density.d, n = density.w.size();
  const int code = fake_failing("FAKE_CUDA_SUM", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  const double *matrix = density.matrix.data(), farthest = density.kernel.farthest;
  std::vector<double> point(d), z(d);
  int stopped = 0;
  for (std::size_t i = 0; i < m && stopped == 0; ++i) {
    stopped = fake_asked(poll, context, static_cast<double>(i) / static_cast<double>(m));
    for (std::size_t s = 0; s < std::max<std::size_t>(1, density.kernel.moments); ++s) {
      sum[s * m + i] = 0.0;
    }
    whiten(d, farthest, matrix, centre, e + i, stride, point.data());
    for (std::size_t j = 0; j < n; ++j) {
      whiten(d, farthest, matrix, centre, density.x.data() + j, n, z.data());
      if (density.kernel.moments > 0) {
        add_moments(density, point.data(), z.data(), density.w[j], i, m, sum);
        continue;
      }
      sum[i] += density.w[j] * (density.kernel.leaf == KESTREL_GPU_product_uniform
                                    ? box_value(density, e + i, stride, j)
                                    : pair_value(density, point.data(), z.data()));
    }
  }
  return stopped != 0 ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

void density_close(void* handle) {
  if (handle == nullptr) return;
  fake_holds(-1);
  delete static_cast<Density*>(handle);
}

// ---- sums over pairs

/// A term as a device computes it.
double term(const kestrel_gpu_pairs& pairs, double value) {
  return pairs.single_precision != 0 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// Adds one pair of weight w, whose coordinates differ by v.
void add_pair(const kestrel_gpu_pairs& pairs, const double* v, double w, double* sum) {
  const std::size_t d = static_cast<std::size_t>(pairs.d);
  double q = 0.0, p = 0.0;
  for (std::size_t k = 0; k < d; ++k) q += pairs.scale * v[k] * v[k];
  if (pairs.kind == KESTREL_GPU_PAIR_POLYNOMIAL) {
    for (std::size_t r = pairs.count; r > 0; --r) p = p * q + pairs.parameter[r - 1];
    sum[0] += w * term(pairs, p * std::exp2(-q));
  } else if (pairs.kind == KESTREL_GPU_PAIR_CURVE) {
    for (std::size_t s = 0; s < pairs.count; ++s) {
      sum[2 * s] += w * term(pairs, std::exp2(-q * pairs.parameter[s]));
      sum[2 * s + 1] += w * term(pairs, std::exp2(-2 * q * pairs.parameter[s]));
    }
  } else if (pairs.kind == KESTREL_GPU_PAIR_MONOMIALS) {
    for (std::size_t s = 0; s < pairs.count / KESTREL_GPU_PAIR_DEGREE; ++s) {
      double product = w * std::exp2(-q);
      for (std::size_t r = 0; r < KESTREL_GPU_PAIR_DEGREE; ++r) {
        const std::size_t k =
            static_cast<std::size_t>(pairs.parameter[s * KESTREL_GPU_PAIR_DEGREE + r]);
        if (k < d) product *= v[k];
      }
      sum[s] += product;
    }
  } else {
    for (std::size_t c = 0; c < 2; ++c) {
      const double e = w * std::exp2(-q * static_cast<double>(c + 1));
      sum[c] += e;
      for (std::size_t kl = 0; kl < d * d; ++kl) {
        sum[2 + c * d * d + kl] += e * pairs.scale * v[kl / d] * v[kl % d];
      }
    }
  }
}

int pair_sums(const kestrel_gpu_pairs* pairs, const double* x, std::size_t stride, const double* w,
              std::size_t n, double* sum, kestrel_gpu_poll poll, void* context, char* problem,
              std::size_t room) {
  const std::size_t d = static_cast<std::size_t>(pairs->d);
  const int code = fake_failing("FAKE_CUDA_PAIRS", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  const auto whiten_sample = [&](std::size_t i, std::vector<double>& z) {
    whiten(d, pairs->farthest, pairs->matrix, pairs->centre, x + i, stride, z.data());
  };
  std::vector<double> z(d), v(d);
  int stopped = 0;
  for (std::size_t j = 0; j < n && stopped == 0; ++j) {
    stopped = fake_asked(poll, context, static_cast<double>(j) / static_cast<double>(n));
    whiten_sample(j, z);
    for (std::size_t i = 0; i < j; ++i) {
      whiten_sample(i, v);
      for (std::size_t k = 0; k < d; ++k) v[k] -= z[k];
      add_pair(*pairs, v.data(), w[i] * w[j], sum);
    }
  }
  return stopped != 0 ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

}  // namespace

#ifdef FAKE_CUDA_NAMELESS
#define kestrel_cuda_table another_name
#endif

extern "C" const kestrel_gpu_table* kestrel_cuda_table() {
  static const kestrel_gpu_table table = {FAKE_CUDA_VERSION,
                                          device,
                                          density_open,
                                          density_samples,
                                          density_sum,
                                          density_close,
                                          pair_sums,
                                          fake_scanline_open,
                                          fake_scanline_slab,
                                          fake_scanline_close,
                                          fake_cross_validation,
                                          fake_mixed_open,
                                          fake_mixed_moments,
                                          fake_mixed_changes,
                                          fake_mixed_close};
  return &table;
}
