// Sums over mixed data for the fake CUDA object, by plain loops.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fake-cuda.hpp"

namespace {

/// The value of a kernel, and its derivative by log(h).
struct KernelValue {
  double value, slope;
};

struct FakeRows {
  std::size_t rows = 0;
  std::vector<double> x, y;
  std::vector<std::size_t> cell;
};

struct FakeMixed {
  int device;
  bool linear;
  std::size_t columns, factors, cells, point_cells;
  FakeRows sample, points;
  bool are_samples;
  std::vector<double> w, unit, scale, weight, q, p, e;
  int window = 0;
  std::size_t terms = 0, inner = 0;
  bool own = false;

  double number(std::size_t k, std::size_t j, std::size_t i) const {
    return weight[(k * cells + sample.cell[j]) * point_cells + points.cell[i]];
  }
  double off(std::size_t c, std::size_t j, std::size_t i) const {
    return sample.x[c * sample.rows + j] - points.x[c * points.rows + i];
  }
  double z(std::size_t c, std::size_t j, std::size_t i) const { return off(c, j, i) / unit[c]; }

  double polynomial(const std::vector<double>& of, std::size_t first, std::size_t count,
                    double at) const {
    if (of.empty()) return 1.0;
    double sum = 0;
    for (std::size_t k = count; k-- > 0;) sum = sum * at + of[first + k];
    return sum;
  }
  KernelValue kernel_of(double u) const {
    const double v = u * u, t = 1 - std::fabs(u), s = 2 * t - 1;
    switch (window) {
      case KESTREL_GPU_mixed_triangle: return {std::max(t, 0.0), t > 0 ? std::fabs(u) : 0.0};
      case KESTREL_GPU_mixed_cubic: {
        if (t <= 0) return {0.0, 0.0};
        const bool near = inner > 0 && s > 0;
        const double value =
            near ? polynomial(q, terms, inner, s) : t * t * t * polynomial(q, 0, terms, s);
        const double rate =
            near ? polynomial(p, terms, inner, s) : t * t * polynomial(p, 0, terms, s);
        return {value, rate * std::fabs(u)};
      }
      default: break;
    }
    double in = 1;
    if (window == KESTREL_GPU_mixed_gaussian) in = std::exp(-0.5 * v);
    if (window == KESTREL_GPU_mixed_epanechnikov) in = v < 5 ? 1 : 0;
    if (window == KESTREL_GPU_mixed_uniform) in = v <= 1 ? 1 : 0;
    if (in == 0) return {0.0, 0.0};
    return {in * polynomial(q, 0, terms, v), in * v * polynomial(p, 0, terms, v)};
  }
  /// The product over the columns and its derivatives, with the weight of the sample.
  KernelValue product(std::size_t j, std::size_t i, std::size_t by) const {
    const double times = j == i && are_samples && !own ? 0.0 : w[j];
    KernelValue found{times, times};
    for (std::size_t c = 0; c < columns; ++c) {
      const KernelValue one = kernel_of(off(c, j, i) * scale[c]);
      found.value *= one.value;
      found.slope *= c == by ? one.slope : one.value;
    }
    return found;
  }
  /// The weight of sample j at point i, and its derivative by parameter k.
  double at(std::size_t j, std::size_t i) const {
    return product(j, i, columns).value * number(0, j, i);
  }
  double by(std::size_t k, std::size_t j, std::size_t i) const {
    if (k < columns) return product(j, i, k).slope * number(0, j, i);
    return product(j, i, columns).value * number(1 + k - columns, j, i);
  }
};

/// Adds numbers to the sums at a point, one after another.
struct Adder {
  double* next;
  std::size_t stride;
  void add(double value) {
    *next += value;
    next += stride;
  }
};

void add_pair(const FakeMixed& of, int task, std::size_t j, std::size_t i, const double* given,
              Adder to) {
  const std::size_t plane = of.linear ? of.columns + 1 : 1, m = of.points.rows;
  const double w = of.at(j, i), v = of.sample.y.empty()
                                        ? 0.0
                                        : of.sample.y[j] - (of.are_samples ? of.sample.y[i] : 0.0);
  const auto line = [&](std::size_t first) {
    double sum = 0;
    for (std::size_t k = 0; k < plane; ++k) {
      sum += given[(first + k) * m + i] * (k == 0 ? 1.0 : of.z(k - 1, j, i));
    }
    return sum;
  };
  if (task == KESTREL_GPU_mixed_moments) {
    to.add(w);
    to.add(w * v);
    if (!of.linear) return;
    for (std::size_t k = 0; k < of.columns; ++k) to.add(w * of.z(k, j, i));
    for (std::size_t k = 0; k < of.columns; ++k) to.add(w * of.z(k, j, i) * v);
    for (std::size_t k = 0; k < of.columns; ++k) {
      for (std::size_t l = 0; l <= k; ++l) to.add(w * of.z(k, j, i) * of.z(l, j, i));
    }
  } else if (task == KESTREL_GPU_mixed_changes) {
    const double t = line(0), off = v - line(plane);
    for (std::size_t k = 0; k < of.columns + of.factors; ++k) {
      const double by = of.by(k, j, i);
      to.add(by * t * off);
      to.add(-by * t * t);
    }
  } else if (task == KESTREL_GPU_mixed_shares) {
    to.add(w);
    for (std::size_t k = 0; k < of.columns + of.factors; ++k) to.add(of.by(k, j, i));
  } else {
    const double off = w * line(1) - given[i];
    to.add(off * off * (of.e.empty() ? 1.0 : of.e[j]));
  }
}

std::size_t number_of_sums(const FakeMixed& of, int task) {
  const std::size_t p = of.columns;
  if (task == KESTREL_GPU_mixed_moments) return of.linear ? 2 + 2 * p + p * (p + 1) / 2 : 2;
  if (task == KESTREL_GPU_mixed_changes) return 2 * (p + of.factors);
  return task == KESTREL_GPU_mixed_shares ? 1 + p + of.factors : 1;
}

void take_cells(std::size_t cells, const unsigned* first, FakeRows& rows) {
  for (std::size_t cell = 0; cell < cells; ++cell) rows.cell.resize(first[cell + 1], cell);
}

void take(const double* from, std::size_t count, std::vector<double>& to) {
  if (from != nullptr) to.assign(from, from + count);
}

}  // namespace

int fake_mixed_open(int device, const kestrel_gpu_mixed* data, const void* from, void** mixed,
                    char* problem, std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_MIXED_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  auto* made = new FakeMixed();
  made->device = device;
  made->linear = data->linear != 0;
  made->columns = static_cast<std::size_t>(data->columns);
  made->factors = static_cast<std::size_t>(data->factors);
  made->cells = data->cells;
  made->point_cells = data->point_cells;
  made->sample.rows = data->n;
  made->are_samples = data->points == nullptr;
  if (from != nullptr) {
    made->sample.x = static_cast<const FakeMixed*>(from)->sample.x;
  } else {
    take(data->x, data->n * made->columns, made->sample.x);
  }
  take(data->y, data->n, made->sample.y);
  made->w.assign(data->n, 1.0);
  take(data->w, data->n, made->w);
  take(data->unit, made->columns, made->unit);
  take_cells(data->cells, data->first, made->sample);
  if (made->are_samples) {
    made->points = made->sample;
  } else {
    made->points.rows = data->m;
    take(data->points, data->m * made->columns, made->points.x);
    take_cells(data->point_cells, data->point_first, made->points);
  }
  *mixed = made;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int fake_mixed_kernel(void* mixed, const kestrel_gpu_mixed_kernel* kernel, char*, std::size_t) {
  FakeMixed& of = *static_cast<FakeMixed*>(mixed);
  of.window = kernel->window;
  of.terms = static_cast<std::size_t>(kernel->terms);
  of.inner = static_cast<std::size_t>(kernel->inner);
  of.own = kernel->own != 0;
  of.q.clear();
  of.p.clear();
  of.e.clear();
  take(kernel->scale, of.columns, of.scale);
  take(kernel->q, of.terms + of.inner, of.q);
  take(kernel->p, of.terms + of.inner, of.p);
  take(kernel->e, of.sample.rows, of.e);
  take(kernel->weight, (of.factors + 1) * of.cells * of.point_cells, of.weight);
  return KESTREL_GPU_OK;
}

int fake_mixed_sums(void* mixed, int task, std::size_t first, std::size_t count,
                    const double* given, double* sum, kestrel_gpu_poll poll, void* context,
                    char* problem, std::size_t room) {
  const FakeMixed& of = *static_cast<const FakeMixed*>(mixed);
  const bool second = task == KESTREL_GPU_mixed_changes || task == KESTREL_GPU_mixed_squares;
  const int code = fake_failing(second ? "FAKE_CUDA_MIXED_CHANGES" : "FAKE_CUDA_MIXED", of.device,
                                problem, room);
  if (code != KESTREL_GPU_OK) return code;
  const std::size_t m = of.points.rows;
  for (std::size_t s = 0; s < number_of_sums(of, task); ++s) {
    std::fill(sum + s * m + first, sum + s * m + first + count, 0.0);
  }
  for (std::size_t i = first; i < first + count; ++i) {
    const double fraction = static_cast<double>(i - first) / static_cast<double>(count);
    if ((i - first) % 64 == 0 && fake_asked(poll, context, fraction) != 0)
      return KESTREL_GPU_STOPPED;
    for (std::size_t j = 0; j < of.sample.rows; ++j) {
      add_pair(of, task, j, i, given, {sum + i, m});
    }
  }
  return KESTREL_GPU_OK;
}

void fake_mixed_close(void* mixed) {
  fake_holds(-1);
  delete static_cast<FakeMixed*>(mixed);
}
