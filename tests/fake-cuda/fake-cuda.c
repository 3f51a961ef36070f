/* A CUDA object that needs no CUDA: plain loops on the CPU, for the tests of src/gpu, and of R's
 * part in tests/fake-cuda. What it does wrong is said in the environment: FAKE_CUDA_DEVICE,
 * FAKE_CUDA_OPEN, FAKE_CUDA_SAMPLES, FAKE_CUDA_SUM, FAKE_CUDA_PAIRS, FAKE_CUDA_SLAB and
 * FAKE_CUDA_REGRESSION hold the code that the function of that name fails with. From the fraction
 * FAKE_CUDA_INTERRUPT of a call's work on, the process gets SIGINT before each question whether to
 * go on; the fraction at which the answer was no is left in FAKE_CUDA_STOPPED, and how many handles
 * have been opened and not closed in FAKE_CUDA_HELD. FAKE_CUDA_VERSION is the version it was
 * compiled for; FAKE_CUDA_NAMELESS leaves out the one symbol it should export. */
#include "fake-cuda.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_CUDA_VERSION
#define FAKE_CUDA_VERSION KESTREL_GPU_VERSION
#endif

int fake_failing(const char* variable, char* problem, size_t room) {
  const char* code = getenv(variable);
  if (code == NULL || *code == 0) return KESTREL_GPU_OK;
  snprintf(problem, room, "%s says %s", variable, code);
  return atoi(code);
}

static void leave_number(const char* variable, double number) {
  char text[32];
  snprintf(text, sizeof text, "%g", number);
  setenv(variable, text, 1);
}

int fake_asked(kestrel_gpu_poll poll, void* context, double fraction) {
  const char* from = getenv("FAKE_CUDA_INTERRUPT");
  if (from != NULL && *from != 0 && fraction >= atof(from)) raise(SIGINT);
  const int stop = poll(context, fraction);
  if (stop) leave_number("FAKE_CUDA_STOPPED", fraction);
  return stop;
}

void fake_holds(int more) {
  static int held = 0;
  held += more;
  leave_number("FAKE_CUDA_HELD", held);
}

struct density {
  struct kestrel_gpu_kernel kernel;
  double *matrix, *root, *x, *w;
  size_t n;
};

double* fake_copied(const double* from, size_t count) {
  double* to = malloc((count + 1) * sizeof(double));
  memcpy(to, from, count * sizeof(double));
  return to;
}

static int device(struct kestrel_gpu_device* out, char* problem, size_t room) {
  memset(out, 0, sizeof *out);
  snprintf(out->name, sizeof out->name, "fake device");
  out->major = 9;
  out->multiprocessors = 132;
  return fake_failing("FAKE_CUDA_DEVICE", problem, room);
}

static int density_open(const struct kestrel_gpu_kernel* kernel, void** out, char* problem,
                        size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  struct density* density = calloc(1, sizeof *density);
  const size_t size = (size_t)kernel->d * kernel->d;
  density->kernel = *kernel;
  density->matrix = fake_copied(kernel->matrix, size);
  density->root = fake_copied(kernel->root, size);
  *out = density;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

static int density_samples(void* handle, const double* x, size_t stride, const double* w, size_t n,
                           char* problem, size_t room) {
  struct density* density = handle;
  const int code = fake_failing("FAKE_CUDA_SAMPLES", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  free(density->x);
  free(density->w);
  density->n = n;
  density->x = malloc((n * density->kernel.d + 1) * sizeof(double));
  for (int k = 0; k < density->kernel.d; ++k) {
    memcpy(density->x + k * n, x + k * stride, n * sizeof(double));
  }
  density->w = fake_copied(w, n);
  return KESTREL_GPU_OK;
}

/* Whitened coordinates of one point about the centre. */
static void whiten(int d, double farthest, const double* matrix, const double* centre,
                   const double* from, size_t stride, double* z) {
  for (int k = 0; k < d; ++k) {
    const double* row = matrix + (size_t)k * d;
    double v = (from[k * stride] - centre[k]) * row[k];
    for (int l = 0; l < k; ++l) v -= row[l] * z[l];
    z[k] = fmin(fmax(v, -farthest), farthest);
  }
}

/* The forms of shared/kernels.def. */
enum form { gaussian, power, cosine };

static double form_value(enum form form, int inner, int outer, double q) {
  const double r = sqrt(q);
  if (form == gaussian) return exp2(-q);
  if (form == cosine) return q < 1.0 ? cos(0.5 * acos(-1.0) * r) : 0.0;
  /* The rim of the uniform kernel in several variables takes more than q. */
  return outer == 0 ? NAN : pow(fmax(0.0, 1.0 - pow(r, inner)), outer);
}

static double value_of(int kernel, double q) {
  switch (kernel) {
#define KESTREL_KERNEL(name, form, inner, outer)                     \
  case KESTREL_GPU_##name: return form_value(form, inner, outer, q);
#include "shared/kernels.def"
    default: return NAN;
  }
}

static double pair_value(const struct density* density, const double* a, const double* b) {
  const int kernels = KESTREL_GPU_LEAVES / 2, product = density->kernel.leaf >= kernels;
  const int kernel = density->kernel.leaf % kernels;
  double q = 0.0, value = 1.0;
  for (int k = 0; k < density->kernel.d; ++k) {
    const double square = (a[k] - b[k]) * (a[k] - b[k]);
    q += square;
    if (product) value *= value_of(kernel, square);
  }
  return product ? value : value_of(kernel, q);
}

static double box_value(const struct density* density, const double* e, size_t stride, size_t j) {
  for (int k = 0; k < density->kernel.d; ++k) {
    const double u = e[k * stride] - density->x[k * density->n + j];
    if (!(fabs(u) <= density->root[(size_t)k * density->kernel.d + k])) return 0.0;
  }
  return 1.0;
}

static int density_sum(void* handle, const double* centre, const double* e, size_t stride, size_t m,
                       double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                       size_t room) {
  const struct density* density = handle;
  const int d = density->kernel.d, code = fake_failing("FAKE_CUDA_SUM", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  double* z = malloc(2 * d * sizeof(double));
  int stopped = 0;
  for (size_t i = 0; i < m && !stopped; ++i) {
    stopped = fake_asked(poll, context, (double)i / m);
    sum[i] = 0.0;
    whiten(d, density->kernel.farthest, density->matrix, centre, e + i, stride, z);
    for (size_t j = 0; j < density->n; ++j) {
      whiten(d, density->kernel.farthest, density->matrix, centre, density->x + j, density->n,
             z + d);
      sum[i] += density->w[j] * (density->kernel.leaf == KESTREL_GPU_product_uniform
                                     ? box_value(density, e + i, stride, j)
                                     : pair_value(density, z, z + d));
    }
  }
  free(z);
  return stopped ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

static void density_close(void* handle) {
  struct density* density = handle;
  if (density == NULL) return;
  fake_holds(-1);
  free(density->matrix);
  free(density->root);
  free(density->x);
  free(density->w);
  free(density);
}

/* A term as a device computes it. */
static double term(const struct kestrel_gpu_pairs* pairs, double value) {
  return pairs->single_precision ? (double)(float)value : value;
}

/* Adds one pair of weight w, whose coordinates differ by v. */
static void add_pair(const struct kestrel_gpu_pairs* pairs, const double* v, double w,
                     double* sum) {
  const size_t d = (size_t)pairs->d;
  double q = 0.0, p = 0.0;
  for (size_t k = 0; k < d; ++k) q += pairs->scale * v[k] * v[k];
  if (pairs->kind == KESTREL_GPU_PAIR_POLYNOMIAL) {
    for (size_t r = pairs->count; r > 0; --r) p = p * q + pairs->parameter[r - 1];
    sum[0] += w * term(pairs, p * exp2(-q));
  } else if (pairs->kind == KESTREL_GPU_PAIR_CURVE) {
    for (size_t s = 0; s < pairs->count; ++s) {
      sum[2 * s] += w * term(pairs, exp2(-q * pairs->parameter[s]));
      sum[2 * s + 1] += w * term(pairs, exp2(-2 * q * pairs->parameter[s]));
    }
  } else if (pairs->kind == KESTREL_GPU_PAIR_MONOMIALS) {
    for (size_t s = 0; s < pairs->count / KESTREL_GPU_PAIR_DEGREE; ++s) {
      double product = w * exp2(-q);
      for (size_t r = 0; r < KESTREL_GPU_PAIR_DEGREE; ++r) {
        const size_t k = (size_t)pairs->parameter[s * KESTREL_GPU_PAIR_DEGREE + r];
        if (k < d) product *= v[k];
      }
      sum[s] += product;
    }
  } else {
    for (size_t c = 0; c < 2; ++c) {
      const double e = w * exp2(-q * (double)(c + 1));
      sum[c] += e;
      for (size_t kl = 0; kl < d * d; ++kl) {
        sum[2 + c * d * d + kl] += e * pairs->scale * v[kl / d] * v[kl % d];
      }
    }
  }
}

static int pair_sums(const struct kestrel_gpu_pairs* pairs, const double* x, size_t stride,
                     const double* w, size_t n, double* sum, kestrel_gpu_poll poll, void* context,
                     char* problem, size_t room) {
  const size_t d = (size_t)pairs->d;
  const int code = fake_failing("FAKE_CUDA_PAIRS", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  double* z = malloc((2 * d + 1) * sizeof(double));
  int stopped = 0;
  for (size_t j = 0; j < n && !stopped; ++j) {
    stopped = fake_asked(poll, context, (double)j / (double)n);
    for (size_t i = 0; i < j; ++i) {
      whiten(pairs->d, pairs->farthest, pairs->matrix, pairs->centre, x + i, stride, z);
      whiten(pairs->d, pairs->farthest, pairs->matrix, pairs->centre, x + j, stride, z + d);
      for (size_t k = 0; k < d; ++k) z[k] -= z[d + k];
      add_pair(pairs, z, w[i] * w[j], sum);
    }
  }
  free(z);
  return stopped ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

#ifdef FAKE_CUDA_NAMELESS
#define kestrel_cuda_table another_name
#endif

const struct kestrel_gpu_table* kestrel_cuda_table(void);
const struct kestrel_gpu_table* kestrel_cuda_table(void) {
  static const struct kestrel_gpu_table table = {
      FAKE_CUDA_VERSION,    device,    density_open,       density_samples,    density_sum,
      density_close,        pair_sums, fake_scanline_open, fake_scanline_slab, fake_scanline_close,
      fake_cross_validation};
  return &table;
}
