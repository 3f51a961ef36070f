// A CUDA object that needs no CUDA: plain loops on the CPU, for the tests of src/gpu, and of R's
// part in tests/fake-cuda. The environment says how many devices there are, FAKE_CUDA_DEVICES (one
// if it does not), into how many pieces pairs are cut, FAKE_CUDA_PIECES, and how calls fail:
// FAKE_CUDA_DEVICE (when devices are started), FAKE_CUDA_OPEN, FAKE_CUDA_SUM, FAKE_CUDA_VARIABLE,
// FAKE_CUDA_PAIRS, FAKE_CUDA_SLAB, FAKE_CUDA_REGRESSION and those of fake-cuda-mixed.cpp hold the
// code that functions of that name fail with. FAKE_CUDA_LOST holds two numbers for each device from
// 0 on: its calls fail with the first, unless that is 0, after as many as the second says since the
// object was opened. From the fraction FAKE_CUDA_INTERRUPT of a call's work on, the process gets
// SIGINT before each poll. The fraction at which a poll stopped the call is left in
// FAKE_CUDA_STOPPED, and the number of open handles in FAKE_CUDA_HELD. FAKE_CUDA_VERSION is the
// version it was compiled for; FAKE_CUDA_NAMELESS leaves out the one symbol it should export.
#include "fake-cuda.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "shared/coordinates.hpp"
#include "shared/profile.hpp"

#ifndef FAKE_CUDA_VERSION
#define FAKE_CUDA_VERSION KESTREL_GPU_VERSION
#endif

namespace {

/// The value of an environment variable, "" without one. Several threads may ask, one for each
/// device.
std::mutex environment;
std::string value_of_variable(const char* variable) {
  const std::lock_guard<std::mutex> lock(environment);
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

void leave_number(const char* variable, double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  const std::lock_guard<std::mutex> lock(environment);
  setenv(variable, text, 1);
}

/// Calls on each device since the object was opened.
std::mutex counting;
std::vector<int> calls;

/// The code of FAKE_CUDA_LOST for this call on a device.
int lost_code(int device) {
  const std::string lost = value_of_variable("FAKE_CUDA_LOST");
  if (lost.empty()) return KESTREL_GPU_OK;
  const std::lock_guard<std::mutex> lock(counting);
  int code = 0, after = 0;
  std::istringstream numbers(lost);
  for (int k = 0; k <= device; ++k) {
    if (!(numbers >> code >> after)) return KESTREL_GPU_OK;
  }
  return calls[static_cast<std::size_t>(device)]++ >= after ? code : int{KESTREL_GPU_OK};
}

}  // namespace

int fake_number(const char* variable, int otherwise) {
  const std::string value = value_of_variable(variable);
  return value.empty() ? otherwise : std::atoi(value.c_str());
}

int fake_failing(const char* variable, int device, char* problem, std::size_t room) {
  if (const int code = lost_code(device)) {
    std::snprintf(problem, room, "device %d is lost", device);
    return code;
  }
  const int code = fake_number(variable, KESTREL_GPU_OK);
  if (code != KESTREL_GPU_OK) std::snprintf(problem, room, "%s says %d", variable, code);
  return code;
}

int fake_asked(kestrel_gpu_poll poll, void* context, double fraction) {
  const std::string from = value_of_variable("FAKE_CUDA_INTERRUPT");
  if (!from.empty() && fraction >= std::atof(from.c_str())) std::raise(SIGINT);
  const int stop = poll(context, fraction);
  if (stop != 0) leave_number("FAKE_CUDA_STOPPED", fraction);
  return stop;
}

void fake_holds(int more) {
  static std::mutex mutex;
  static int held = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  held += more;
  leave_number("FAKE_CUDA_HELD", held);
}

namespace {

int devices(int* count, char*, std::size_t) {
  *count = fake_number("FAKE_CUDA_DEVICES", 1);
  const std::lock_guard<std::mutex> lock(counting);
  calls.assign(static_cast<std::size_t>(*count), 0);
  return KESTREL_GPU_OK;
}

int describe(int, kestrel_gpu_device* out, char*, std::size_t) {
  *out = {};
  std::snprintf(out->name, sizeof out->name, "fake device");
  out->major = 9;
  out->multiprocessors = 132;
  return KESTREL_GPU_OK;
}

int start(int number, double* free_memory, char* problem, std::size_t room) {
  *free_memory = 0.0;
  return fake_failing("FAKE_CUDA_DEVICE", number, problem, room);
}

// ---- densities

struct Density {
  Density(int number, const kestrel_gpu_kernel& given)
      : device(number),
        kernel(given),
        d(static_cast<std::size_t>(given.d)),
        matrix(given.matrix, given.matrix + d * d),
        root(given.root, given.root + d * d),
        factor(given.factor,
               given.factor + given.moments * static_cast<std::size_t>(given.degree)) {}

  int device;
  kestrel_gpu_kernel kernel;
  std::size_t d;
  std::vector<double> matrix, root, x, w;
  std::vector<int> factor;
};

int density_open(int device, const kestrel_gpu_kernel* kernel, const double* x, std::size_t stride,
                 const double* w, std::size_t n, const void* from, void** out, char* problem,
                 std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  auto* const made = new Density(device, *kernel);
  if (from != nullptr) {
    made->x = static_cast<const Density*>(from)->x;
    made->w = static_cast<const Density*>(from)->w;
  } else {
    for (std::size_t k = 0; k < made->d; ++k) {
      made->x.insert(made->x.end(), x + k * stride, x + k * stride + n);
    }
    if (w == nullptr) {
      made->w.assign(n, 1.0);
    } else {
      made->w.assign(w, w + n);
    }
  }
  *out = made;
  fake_holds(1);
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
  const int code = fake_failing("FAKE_CUDA_SUM", density.device, problem, room);
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

/// The samples of sums over pairs, whitened, one after the other.
struct Pairs {
  int device;
  kestrel_gpu_pairs request;
  std::vector<double> parameter, z, w;
  std::size_t sums;

  std::size_t pieces() const {
    const auto wanted = static_cast<std::size_t>(fake_number("FAKE_CUDA_PIECES", 1));
    return std::max<std::size_t>(1, std::min(wanted, w.size()));
  }
};

std::size_t sums_of(const kestrel_gpu_pairs& request) {
  const std::size_t d = static_cast<std::size_t>(request.d);
  switch (request.kind) {
    case KESTREL_GPU_PAIR_POLYNOMIAL: return 1;
    case KESTREL_GPU_PAIR_CURVE: return 2 * request.count;
    case KESTREL_GPU_PAIR_MOMENTS: return 2 + 2 * d * d;
    default: return request.count / KESTREL_GPU_PAIR_DEGREE;
  }
}

int pairs_open(int device, const kestrel_gpu_pairs* request, const double* x, std::size_t stride,
               const double* w, std::size_t n, const void* from, void** out, std::size_t* pieces,
               char* problem, std::size_t room) {
  const std::size_t d = static_cast<std::size_t>(request->d);
  const int code = fake_failing("FAKE_CUDA_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  auto* const made = new Pairs{device, *request, {}, {}, {}, sums_of(*request)};
  made->parameter.assign(request->parameter, request->parameter + request->count);
  made->request.parameter = made->parameter.data();
  if (from != nullptr) {
    made->z = static_cast<const Pairs*>(from)->z;
    made->w = static_cast<const Pairs*>(from)->w;
  } else {
    made->z.resize(n * d);
    made->w.assign(w, w + n);
    for (std::size_t i = 0; i < n; ++i) {
      whiten(d, request->farthest, request->matrix, request->centre, x + i, stride,
             made->z.data() + i * d);
    }
  }
  *pieces = made->pieces();
  *out = made;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int pairs_sum(void* handle, std::size_t piece, double* sum, kestrel_gpu_poll poll, void* context,
              char* problem, std::size_t room) {
  const Pairs& of = *static_cast<const Pairs*>(handle);
  const std::size_t d = static_cast<std::size_t>(of.request.d), n = of.w.size();
  const int code = fake_failing("FAKE_CUDA_PAIRS", of.device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  std::fill(sum, sum + of.sums, 0.0);
  std::vector<double> v(d);
  int stopped = 0;
  const std::size_t pieces = of.pieces(), begin = n * piece / pieces,
                    end = n * (piece + 1) / pieces;
  for (std::size_t j = begin; j < end && stopped == 0; ++j) {
    stopped = fake_asked(poll, context,
                         static_cast<double>(j - begin) / static_cast<double>(end - begin));
    for (std::size_t i = 0; i < j; ++i) {
      for (std::size_t k = 0; k < d; ++k) v[k] = of.z[i * d + k] - of.z[j * d + k];
      add_pair(of.request, v.data(), of.w[i] * of.w[j], sum);
    }
  }
  return stopped != 0 ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

void pairs_close(void* handle) {
  if (handle == nullptr) return;
  fake_holds(-1);
  delete static_cast<Pairs*>(handle);
}

}  // namespace

#ifdef FAKE_CUDA_NAMELESS
#define kestrel_cuda_table another_name
#endif

extern "C" const kestrel_gpu_table* kestrel_cuda_table() {
  static const kestrel_gpu_table table = {FAKE_CUDA_VERSION,
                                          devices,
                                          describe,
                                          start,
                                          density_open,
                                          density_sum,
                                          density_close,
                                          fake_variable_open,
                                          fake_variable_sum,
                                          fake_variable_close,
                                          pairs_open,
                                          pairs_sum,
                                          pairs_close,
                                          fake_scanline_open,
                                          fake_scanline_slab,
                                          fake_scanline_close,
                                          fake_regression_open,
                                          fake_regression_sums,
                                          fake_regression_close,
                                          fake_mixed_open,
                                          fake_mixed_kernel,
                                          fake_mixed_sums,
                                          fake_mixed_close,
                                          [](kestrel_gpu_host_loop) {}};
  return &table;
}
