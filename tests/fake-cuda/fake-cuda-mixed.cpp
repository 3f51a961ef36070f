// Sums over mixed data for the fake CUDA object, by plain loops.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fake-cuda.hpp"

namespace {

struct FakeMixed {
  int device;
  bool linear;
  std::size_t columns, factors, n, cells;
  std::vector<double> x, y, unit, h, weight;
  std::vector<std::size_t> cell;

  double number(std::size_t k, std::size_t j, std::size_t i) const {
    return weight[(k * cells + cell[j]) * cells + cell[i]];
  }
  double off(std::size_t c, std::size_t j, std::size_t i) const {
    return x[c * n + j] - x[c * n + i];
  }
  double squared(std::size_t c, std::size_t j, std::size_t i) const {
    return std::isfinite(h[c]) ? std::pow(off(c, j, i) / h[c], 2) : 0.0;
  }
  double kernel(std::size_t j, std::size_t i) const {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += squared(c, j, i);
    return std::exp(-0.5 * sum);
  }
  double z(std::size_t c, std::size_t j, std::size_t i) const { return off(c, j, i) / unit[c]; }
};

void add_moments(const FakeMixed& of, std::size_t i, double* sum) {
  for (std::size_t j = 0; j < of.n; ++j) {
    if (j == i) continue;
    const double w = of.kernel(j, i) * of.number(0, j, i), v = of.y[j] - of.y[i];
    double* next = sum;
    const auto add = [&](double value) {
      *next += value;
      next += of.n;
    };
    add(w);
    add(w * v);
    if (!of.linear) continue;
    for (std::size_t k = 0; k < of.columns; ++k) add(w * of.z(k, j, i));
    for (std::size_t k = 0; k < of.columns; ++k) add(w * of.z(k, j, i) * v);
    for (std::size_t k = 0; k < of.columns; ++k) {
      for (std::size_t l = 0; l <= k; ++l) add(w * of.z(k, j, i) * of.z(l, j, i));
    }
  }
}

void add_changes(const FakeMixed& of, const double* fit, std::size_t i, double* change) {
  const std::size_t plane = of.linear ? of.columns + 1 : 1;
  for (std::size_t j = 0; j < of.n; ++j) {
    if (j == i) continue;
    double t = 0, off = of.y[j] - of.y[i];
    for (std::size_t k = 0; k < plane; ++k) {
      const double z = k == 0 ? 1.0 : of.z(k - 1, j, i);
      t += fit[k * of.n + i] * z;
      off -= fit[(plane + k) * of.n + i] * z;
    }
    const double kernel = of.kernel(j, i);
    for (std::size_t c = 0; c < of.columns + of.factors; ++c) {
      const double by = c < of.columns ? of.number(0, j, i) * of.squared(c, j, i)
                                       : of.number(1 + c - of.columns, j, i);
      change[2 * c * of.n + i] += kernel * by * t * off;
      change[(2 * c + 1) * of.n + i] -= kernel * by * t * t;
    }
  }
}

template <class Body>
int each_point(const FakeMixed& of, std::size_t first, std::size_t count, double* to,
               std::size_t numbers, kestrel_gpu_poll poll, void* context, const Body& body) {
  for (std::size_t s = 0; s < numbers; ++s) {
    std::fill(to + s * of.n + first, to + s * of.n + first + count, 0.0);
  }
  for (std::size_t i = first; i < first + count; ++i) {
    const double fraction = static_cast<double>(i - first) / static_cast<double>(count);
    if ((i - first) % 64 == 0 && fake_asked(poll, context, fraction) != 0)
      return KESTREL_GPU_STOPPED;
    body(i);
  }
  return KESTREL_GPU_OK;
}

}  // namespace

int fake_mixed_open(int device, const kestrel_gpu_mixed* data, const void* from, void** mixed,
                    char* problem, std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_MIXED_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  auto* made = new FakeMixed{device,
                             data->linear != 0,
                             static_cast<std::size_t>(data->columns),
                             static_cast<std::size_t>(data->factors),
                             data->n,
                             data->cells,
                             {},
                             {data->y, data->y + data->n},
                             {data->unit, data->unit + data->columns},
                             {},
                             {},
                             {}};
  if (from != nullptr) {
    made->x = static_cast<const FakeMixed*>(from)->x;
  } else {
    made->x.assign(data->x, data->x + data->n * made->columns);
  }
  for (std::size_t cell = 0; cell < data->cells; ++cell) {
    made->cell.resize(data->first[cell + 1], cell);
  }
  *mixed = made;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int fake_mixed_kernel(void* mixed, const kestrel_gpu_mixed_kernel* kernel, char*, std::size_t) {
  FakeMixed& of = *static_cast<FakeMixed*>(mixed);
  of.h.assign(kernel->h, kernel->h + of.columns);
  of.weight.assign(kernel->weight, kernel->weight + (of.factors + 1) * of.cells * of.cells);
  return KESTREL_GPU_OK;
}

int fake_mixed_moments(void* mixed, std::size_t first, std::size_t count, double* sum,
                       kestrel_gpu_poll poll, void* context, char* problem, std::size_t room) {
  const FakeMixed& of = *static_cast<const FakeMixed*>(mixed);
  const int code = fake_failing("FAKE_CUDA_MIXED", of.device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  const std::size_t p = of.columns;
  return each_point(of, first, count, sum, of.linear ? 2 + 2 * p + p * (p + 1) / 2 : 2, poll,
                    context, [&](std::size_t i) { add_moments(of, i, sum + i); });
}

int fake_mixed_changes(void* mixed, std::size_t first, std::size_t count, const double* fit,
                       double* change, kestrel_gpu_poll poll, void* context, char* problem,
                       std::size_t room) {
  const FakeMixed& of = *static_cast<const FakeMixed*>(mixed);
  const int code = fake_failing("FAKE_CUDA_MIXED_CHANGES", of.device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  return each_point(of, first, count, change, 2 * (of.columns + of.factors), poll, context,
                    [&](std::size_t i) { add_changes(of, fit, i, change); });
}

void fake_mixed_close(void* mixed) {
  fake_holds(-1);
  delete static_cast<FakeMixed*>(mixed);
}
