/* The interface between kestrel and its CUDA object. It is C, so that neither has to be built by
 * the other's compiler. The object exports one function, KESTREL_GPU_SYMBOL, that returns the table
 * of all others. Each of these returns KESTREL_GPU_OK, or another code after writing the reason
 * into the caller's buffer, as text that ends in a zero. None of them may be called in a process
 * that was forked after the first call of any. Several threads may call them, but only one at a
 * time for each device.
 *
 * Devices have numbers from 0. A handle belongs to the device for which it was opened. What is sent
 * to a device can come from another handle, `from`, that was opened for the same: from device to
 * device if these are peers, and through the host otherwise. The other handle may be in use
 * meanwhile, but its data must not change. Without such a handle `from` is null.
 *
 * Long tasks are cut into pieces, so that several devices can share them. The values of a piece do
 * not depend on the device, if the devices are of one kind. */
#ifndef KESTREL_GPU_ABI_H
#define KESTREL_GPU_ABI_H

#include <stddef.h>

#include "shared/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To be raised with every change of this file. */
#define KESTREL_GPU_VERSION 19
#define KESTREL_GPU_SYMBOL "kestrel_cuda_table"

enum kestrel_gpu_code {
  KESTREL_GPU_OK = 0,
  KESTREL_GPU_NO_DEVICE = 1,  /* no device, or none that this object was built for */
  KESTREL_GPU_MEMORY = 2,     /* the device's memory is exhausted */
  KESTREL_GPU_FAILED = 3,     /* any other error of the driver; the device may be lost */
  KESTREL_GPU_STOPPED = 4,    /* the poll, or `take`, asked for it */
  KESTREL_GPU_REFUSED = 5,    /* more than the object was made for */
  KESTREL_GPU_HOST_MEMORY = 6 /* the host's memory, or what of it can be locked, is exhausted */
};

/* The kernels of shared/kernels.def: their profiles in the coordinates that `matrix` gives, and
 * products of them (see simd/direct/direct.hpp). The Gaussian kernel is its own product.
 * KESTREL_GPU_uniform: 1 where |root^-1 (e - x)|^2 <= 1, at the rim decided by the data as given;
 * KESTREL_GPU_product_uniform: 1 where |e_k - x_k| <= root_kk for all k, decided by the data as
 * given. */
enum kestrel_gpu_leaf {
#define KESTREL_KERNEL(name, form, inner, outer) KESTREL_GPU_##name,
#include "shared/kernels.def"
#define KESTREL_KERNEL(name, form, inner, outer) KESTREL_GPU_product_##name,
#include "shared/kernels.def"
  KESTREL_GPU_LEAVES
};

/* The maximum number of variables of KESTREL_GPU_uniform, which keeps a point's coordinates. */
#define KESTREL_GPU_UNIFORM_VARIABLES 256

/* The maximum number of variables of moments, and of factors of one. */
#define KESTREL_GPU_MOMENT_VARIABLES 18
#define KESTREL_GPU_MOMENT_DEGREE 8

struct kestrel_gpu_device {
  char name[256];
  double memory;      /* bytes */
  double free_memory; /* bytes */
  int major, minor;   /* compute capability */
  int multiprocessors;
  int driver, runtime; /* versions, 1000 major + 10 minor */
};

/* One kernel at one bandwidth. Matrices are d x d, row-major, and copied. */
struct kestrel_gpu_kernel {
  int leaf;             /* kestrel_gpu_leaf */
  int single_precision; /* not 0: the continuous kernels in single precision */
  int d;
  int diagonal;         /* not 0: nothing off the diagonal of `matrix` */
  const double* matrix; /* of the whitening: z_k = a_kk (x_k - c_k) - sum_{l<k} a_kl z_l */
  const double* root;   /* the lower Cholesky factor of the bandwidth matrix */
  double farthest;      /* whitened coordinates are clamped to +-farthest */
  /* 0, or how many sums there are at each point, of the kernel times a moment: the product of
   * `degree` factors, with factor[r * moments + s] the number of a variable of e - x in whitened
   * coordinates, or d for a factor of one. For KESTREL_GPU_gaussian in double precision. */
  size_t moments;
  int degree;
  const int* factor; /* copied */
};

/* Sums of radial compact kernels with a bandwidth for each sample or for each point, in at most
 * this many variables. */
#define KESTREL_GPU_VARIABLE_AXES 3

struct kestrel_gpu_variable {
  int leaf;             /* kestrel_gpu_leaf: a radial kernel, not the Gaussian one */
  int single_precision; /* not 0: the continuous kernels in single precision */
  int d;
  int by_point; /* not 0: the bandwidths are of the points */
  double unit;  /* a power of two; 1 in double precision */
  /* In single precision coordinates are relative to the centre, and clamped to +-farthest. Each is
   * the sum of two numbers, so that differences keep their digits. */
  double centre[KESTREL_GPU_VARIABLE_AXES];
  double farthest;
};

/* Sums over the pairs i < j of samples, of w_i w_j times a function of q = scale |v|^2,
 * v = z_i - z_j in the coordinates that `matrix` gives about `centre`. */
enum kestrel_gpu_pair_kind {
  /* One sum, of P(q) 2^-q; parameter[r] is the coefficient of q^r,
   * r < KESTREL_GPU_PAIR_COEFFICIENTS. */
  KESTREL_GPU_PAIR_POLYNOMIAL,
  /* For each f = parameter[s], 0 < f <= 1, two sums: of 2^-(f q) and of 4^-(f q). */
  KESTREL_GPU_PAIR_CURVE,
  /* 2 + 2 d d sums: of e = 2^-q, of e^2, and then d x d of e scale v v' and of e^2 scale v v'. */
  KESTREL_GPU_PAIR_MOMENTS,
  /* For each KESTREL_GPU_PAIR_DEGREE of the parameters one sum, of 2^-q v_k v_l ...; the parameters
   * are the variables' numbers k, l, ..., from zero, and d for a factor of one. */
  KESTREL_GPU_PAIR_MONOMIALS
};

/* The maximum number of coefficients of a polynomial: up to the tenth derivative. */
#define KESTREL_GPU_PAIR_COEFFICIENTS 6

/* The maximum numbers of variables of such a sum, of variables of monomials, and of factors of a
 * monomial. */
#define KESTREL_GPU_PAIR_VARIABLES 128
#define KESTREL_GPU_PAIR_MONOMIAL_VARIABLES 32
#define KESTREL_GPU_PAIR_DEGREE 8

struct kestrel_gpu_pairs {
  int kind;             /* kestrel_gpu_pair_kind */
  int single_precision; /* not 0: terms of a polynomial or a curve in single, sums in double */
  int d;
  int diagonal;         /* not 0: nothing off the diagonal of `matrix` */
  const double* matrix; /* d x d, as in kestrel_gpu_kernel */
  const double* centre;
  double farthest; /* whitened coordinates are clamped to +-farthest */
  double scale;
  const double* parameter;
  size_t count; /* of parameters */
};

/* Sums of compact kernels on a regular grid, from the ends of the runs that each sample covers of
 * the grid's rows, or at all points of these. All members mean what ScanlineForm, ScanlineSamples,
 * ScanlineTile, ScanlineOutput and ScanlineTable of simd/scanline/scanline.hpp say, and the results
 * have the same bits. */
#define KESTREL_GPU_SCANLINE_AXES KESTREL_SCANLINE_AXES

struct kestrel_gpu_scanline_axis {
  double origin, inverse_step, step_high, step_low;
  const double* x;     /* the samples; null for an axis of one point on which all lie */
  const double* shift; /* of `count` points; null where each is zero */
  const double* point; /* uniform kernels: the points as given, else null */
  size_t count;
};

struct kestrel_gpu_scanline {
  int axes;
  int leaf;   /* kestrel_gpu_leaf, of a compact kernel */
  int events; /* not 0: by the ends of runs, for KESTREL_GPU_epanechnikov */
  int limbs;  /* 1, 2 or, by events, 4 */
  double slope[KESTREL_GPU_SCANLINE_AXES][KESTREL_GPU_SCANLINE_AXES];
  double inverse[KESTREL_GPU_SCANLINE_AXES];
  double room, limb_scale, row_shift, run_shift;
  struct kestrel_gpu_scanline_axis axis[KESTREL_GPU_SCANLINE_AXES];
  size_t n;             /* samples, at most 2^32 - 64 */
  const double* weight; /* null where each is `common` */
  double common;
  double limb, factor, power;
  size_t row_stride, run_stride; /* one of them is 1 */
  /* Uniform kernels: the user's variables, as ScanlineData has them. */
  int d;
  int axis_of[KESTREL_GPU_SCANLINE_AXES];
  double root[KESTREL_GPU_SCANLINE_AXES][KESTREL_GPU_SCANLINE_AXES];
};

struct kestrel_gpu_scanline_tile {
  int outer[KESTREL_GPU_SCANLINE_AXES - 2];
  double outer_shift[KESTREL_GPU_SCANLINE_AXES - 2];
  int row_begin, row_end, run_begin, run_end, anchor_first, anchor_last;
  size_t row_length;  /* cells of a row: at least its number of points */
  size_t first_point; /* the index of its first point in the output of its part */
  size_t first_range; /* its samples are in the ranges from this one to the next tile's first */
};

/* Samples begin, ..., end - 1. */
struct kestrel_gpu_scanline_range {
  size_t begin, end;
};

/* The tiles from first_tile to the next part's first one have `points` consecutive points. */
struct kestrel_gpu_scanline_part {
  size_t first_tile, points;
};

struct kestrel_gpu_scanline_slab {
  const struct kestrel_gpu_scanline_tile* tile;
  size_t tiles;
  const struct kestrel_gpu_scanline_range* range;
  size_t ranges;
  const struct kestrel_gpu_scanline_part* part;
  size_t parts;
};

/* Leave-one-out cross-validation of kernel regression on the line. */
struct kestrel_gpu_regression {
  int kernel;          /* kestrel_gpu_leaf: the Gaussian kernel, or one that is a polynomial */
  int linear;          /* not 0: local linear fits, else local constant ones */
  size_t n;            /* observations, fewer than 2^31, in any order */
  const double *x, *y; /* finite */
  const double* w;     /* positive; null where each is 1 */
  const double* bandwidth;
  size_t count;
  double unit;       /* a power of two: the range of x and every bandwidth times it are at most 2 */
  double reach, cut; /* Gaussian: the window, in bandwidths; samples whose u^2 exceeds the nearest
                      * one's by more than `cut` do not count */
  double trend;      /* local linear fits: y is freed of its trend at this bandwidth, see
                      * shared/local_trend.hpp */
};

/* Sums over samples with columns and factors by product kernels, at points that are the samples or
 * others; see core/mixed. At most this many columns and factors. */
#define KESTREL_GPU_MIXED_COLUMNS 6
#define KESTREL_GPU_MIXED_FACTORS 8

struct kestrel_gpu_mixed {
  int linear;              /* not 0: for local linear fits */
  int columns, factors;    /* at least one column */
  size_t n;                /* samples, fewer than 2^31 */
  const double *x, *y, *w; /* column c of sample j is x[c * n + j]; y: null if there is none; w:
                            * null if all are 1 */
  const double* unit;      /* by which columns are divided to be those of local linear fits */
  size_t cells;            /* combinations of levels, at most 2^16 */
  const unsigned* first;   /* the first sample of each cell, and n */
  size_t m;                /* points, fewer than 2^31 */
  const double* points;    /* as x; null: the points are the samples */
  size_t point_cells;      /* as those of the samples */
  const unsigned* point_first;
};

/* The windows of simd::MixedWindow. */
enum kestrel_gpu_mixed_window {
  KESTREL_GPU_mixed_gaussian = 0,
  KESTREL_GPU_mixed_epanechnikov = 1,
  KESTREL_GPU_mixed_uniform = 2,
  KESTREL_GPU_mixed_triangle = 3,
  KESTREL_GPU_mixed_cubic = 4
};

/* The maximum number of coefficients of Q, and of P. */
#define KESTREL_GPU_MIXED_TERMS 40

struct kestrel_gpu_mixed_kernel {
  const double* scale; /* 1 / h times that of the kernel; 0: the column is smoothed out */
  /* As simd::MixedProduct has them. */
  int window, terms, inner;
  const double *q, *p;
  int own;         /* not 0: a sample counts at itself, too */
  const double* e; /* for squares: a number for each sample, or null for ones */
  /* cells * point_cells products of the kernels of the factors, of a sample in cell b at a point in
   * cell a at b * point_cells + a; then for each factor their derivatives by its lambda */
  const double* weight;
};

/* The sums at a point, w being the product of all kernels and of the weight of a sample, v = y - y
 * of the point (or y, at points that are not the samples), and for local linear fits z = (x - x of
 * the point) / unit:
 * moments: of w and w v, and for local linear fits of w z_k for each column, of w z_k v for each,
 *   and of w z_k z_l, l <= k, row after row.
 * changes: the derivatives of fits made of these sums. With t = a_0 + a_1 z_1 + ... and f likewise
 *   of b, the sums of w' t (v - f) and of -w' t^2, where w' is the derivative of w by log(h) of
 *   each column, and then by lambda of each factor. `given`: a and then b, each 1 number or, for
 *   local linear fits, 1 + columns.
 * shares: of w, and of these derivatives w'.
 * squares: of (w t - c)^2 e. `given`: c, and then a. */
enum kestrel_gpu_mixed_task {
  KESTREL_GPU_mixed_moments = 0,
  KESTREL_GPU_mixed_changes = 1,
  KESTREL_GPU_mixed_shares = 2,
  KESTREL_GPU_mixed_squares = 3
};

/* Takes the values of points first, ..., first + count - 1 of a slab, in this order. Returns 0 to
 * go on. */
typedef int (*kestrel_gpu_take)(void* context, size_t first, const double* values, size_t count);

/* Calls body(task, 0) on this thread, and body(task, 1) on another one meanwhile; if none comes in
 * time, on this one afterwards. Returns 0 if it cannot: then nothing was called. */
typedef int (*kestrel_gpu_pair)(void* context, void (*body)(void* task, int item), void* task);

/* Called between launches, when `fraction` of the call's work is done. Returns 0 to go on. */
typedef int (*kestrel_gpu_poll)(void* context, double fraction);

/* Calls body(context, item, worker) once for each item, on several threads of the host at once but
 * never on two with the same worker, which is in [0, KESTREL_GPU_HOST_THREADS). Returns 0 if it
 * cannot, as on a thread of such a loop: then nothing was called. */
#define KESTREL_GPU_HOST_THREADS 4
typedef int (*kestrel_gpu_host_loop)(size_t items,
                                     void (*body)(void* context, size_t item, int worker),
                                     void* context);

struct kestrel_gpu_table {
  int version; /* KESTREL_GPU_VERSION; always the first member */

  /* How many devices there are. Starts the driver. */
  int (*devices)(int* count, char* problem, size_t room);
  /* Describes a device, all but its free memory. Does not start it. */
  int (*describe)(int number, struct kestrel_gpu_device* device, char* problem, size_t room);
  /* Runs a first kernel on a device, which shows whether it can be used, and asks for its free
   * memory in bytes. */
  int (*start)(int number, double* free_memory, char* problem, size_t room);

  /* Prepares the sum for a kernel and the samples: n rows of d, coordinate k of row j is x[k *
   * stride + j]; n weights, not negative, or null for ones. density_close() frees it. */
  int (*density_open)(int device, const struct kestrel_gpu_kernel* kernel, const double* x,
                      size_t stride, const double* w, size_t n, const void* from, void** density,
                      char* problem, size_t room);
  /* sum[i] = sum_j w_j value(e_i - x_j), i < m, coordinate k of e_i being e[k * stride + i]. If
   * there are moments, sum[s * m + i] is that of moment s.
   * Coordinates are relative to `centre`, which KESTREL_GPU_product_uniform ignores. */
  int (*density_sum)(void* density, const double* centre, const double* e, size_t stride, size_t m,
                     double* sum, kestrel_gpu_poll poll, void* context, char* problem, size_t room);
  void (*density_close)(void* density);

  /* Prepares sums with bandwidths that vary; arguments as of density_open(). h: n positive numbers,
   * or null if the bandwidths are of the points. variable_close() frees them. */
  int (*variable_open)(int device, const struct kestrel_gpu_variable* request, const double* x,
                       size_t stride, const double* w, const double* h, size_t n, const void* from,
                       void** variable, char* problem, size_t room);
  /* sum[i] = sum_j w_j (unit / h_j)^d value(|e_i - x_j| / h_j), or with the bandwidths h_i of the
   * points sum_j w_j value(|e_i - x_j| / h_i). h: m positive numbers, or null. */
  int (*variable_sum)(void* variable, const double* e, size_t stride, const double* h, size_t m,
                      double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                      size_t room);
  void (*variable_close)(void* variable);

  /* Sums over pairs of n samples; arguments as of density_open(). pairs_close() frees them.
   * `pieces`: their number, which depends on the request and on n alone. */
  int (*pairs_open)(int device, const struct kestrel_gpu_pairs* request, const double* x,
                    size_t stride, const double* w, size_t n, const void* from, void** pairs,
                    size_t* pieces, char* problem, size_t room);
  /* All the sums, over the pairs of one piece. The last pieces are the longest. */
  int (*pairs_sum)(void* pairs, size_t piece, double* sum, kestrel_gpu_poll poll, void* context,
                   char* problem, size_t room);
  void (*pairs_close)(void* pairs);

  /* Copies a grid and its samples; scanline_close() frees them. */
  int (*scanline_open)(int device, const struct kestrel_gpu_scanline* runs, const void* from,
                       void** out, char* problem, size_t room);
  /* Computes the points of a slab, part after part. If `take` is null, the values stay on the
   * device, which gives the time of its work without the copy back. `pair`: null, or how another
   * thread can call `take`, of which one call runs at a time; `poll` is called on this thread.
   * largest[0]: the largest magnitude of a sum of first limbs, largest[1]: of others. `take`,
   * `pair` and `poll` are called with the same context. */
  int (*scanline_slab)(void* runs, const struct kestrel_gpu_scanline_slab* slab, double largest[2],
                       kestrel_gpu_take take, kestrel_gpu_pair pair, kestrel_gpu_poll poll,
                       void* context, char* problem, size_t room);
  void (*scanline_close)(void* runs);

  /* Copies and sorts the observations, and prepares the fits; regression_close() frees them. The
   * request, its bandwidths included, must outlive the handle; x, y and w need not. */
  int (*regression_open)(int device, const struct kestrel_gpu_regression* request, const void* from,
                         void** regression, char* problem, size_t room);
  /* Four sums over the observations for each of the bandwidths first, ..., first + count - 1, with
   * e_i = y_i minus the fit without observation i: of w e^2 where there is such a fit; of w r^2, r
   * being the residual of the fit with all; of the leverages; and the number of observations
   * without a neighbour. */
  int (*regression_sums)(void* regression, size_t first, size_t count, double* sum,
                         kestrel_gpu_poll poll, void* context, char* problem, size_t room);
  void (*regression_close)(void* regression);

  /* Copies a sample; mixed_close() frees it. */
  int (*mixed_open)(int device, const struct kestrel_gpu_mixed* data, const void* from,
                    void** mixed, char* problem, size_t room);
  /* Sets the kernel of the sums. */
  int (*mixed_kernel)(void* mixed, const struct kestrel_gpu_mixed_kernel* kernel, char* problem,
                      size_t room);
  /* The sums of a task (kestrel_gpu_mixed_task) at the points i = first, ..., first + count - 1,
   * number s of which is sum[s * m + i]. Number k that is given for point i is given[k * m + i].
   * `first` is a multiple of 128. */
  int (*mixed_sums)(void* mixed, int task, size_t first, size_t count, const double* given,
                    double* sum, kestrel_gpu_poll poll, void* context, char* problem, size_t room);
  void (*mixed_close)(void* mixed);

  /* Says how the object can use threads of the host, to copy data. */
  void (*set_host_loop)(kestrel_gpu_host_loop loop);
};

typedef const struct kestrel_gpu_table* (*kestrel_gpu_entry)(void);

#ifdef __cplusplus
}
#endif

#endif
