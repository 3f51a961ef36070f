/* Runs on the fake device: one sample, row and point after the other, by the operations that
 * ScanlineTable::events of simd/scanline/scanline.hpp is made of, in their order and none of them fused. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake-cuda.h"

struct sample {
  size_t j;
  double y[KESTREL_GPU_SCANLINE_AXES];
  double squares, left;
};

static double nearest(double v) { return (v + 6755399441055744.0) - 6755399441055744.0; }

static double within(double v, double low, double high) { return fmin(fmax(v, low), high); }

static double half_length(double slope, double room) { return room > 0 ? slope * sqrt(room) : -1; }

/* The nearest index, and what is left of the place. */
static void place(const struct kestrel_gpu_scanline_axis* axis, size_t j, double* base, double* part) {
  *base = *part = 0;
  if (axis->x == NULL) return;
  const double x = axis->x[j], from = x - axis->origin, back = from - x;
  const double lost = (x - (from - back)) - (axis->origin + back);
  *base = nearest(within(from * axis->inverse_step, -1073741824.0, 1073741824.0));
  *part = (((from - *base * axis->step_high) - *base * axis->step_low) + lost) * axis->inverse_step;
}

static double shift_of(const struct kestrel_gpu_scanline_axis* axis, double index) {
  return axis->shift == NULL ? 0.0 : axis->shift[(size_t)index];
}

/* The centre on an axis, from its base, of what y leaves on the axes before `axes`. */
static double centre_of(const struct kestrel_gpu_scanline* runs, const struct sample* s, int axis,
                        int axes, double* base) {
  double centre;
  place(&runs->axis[axis], s->j, base, &centre);
  for (int o = 0; o < axes; ++o) centre += runs->slope[axis][o] * s->y[o];
  return centre;
}

static void add_run(const struct kestrel_gpu_scanline* runs, const struct kestrel_gpu_scanline_tile* tile,
                    const struct sample* s, double base, double centre, uint64_t* cells) {
  const int run = runs->axes - 1;
  const double radius = runs->slope[run][run], reach = half_length(radius, s->left);
  const double begin = tile->run_begin - base, end = tile->run_end - base;
  const double low = centre - reach, high = centre + reach, near = runs->run_shift;
  const double first = nearest(low), last = nearest(high);
  double start = ceil(within(low, begin, end));
  double stop = fmax(floor(within(high, begin - 1, end - 1)) + 1, start);
  if (fabs(low - first) <= near && first >= begin && first < end) {
    start = shift_of(&runs->axis[run], first + base) >= low - first ? first : first + 1;
  }
  if (fabs(high - last) <= near && last >= begin && last < end) {
    stop = shift_of(&runs->axis[run], last + base) <= high - last ? last + 1 : last;
  }
  if (!(start < stop)) return;
  const double anchor =
      within(nearest(centre), tile->anchor_first - base, tile->anchor_last - base);
  const double d = centre - anchor;
  const uint64_t k = (uint64_t)(anchor + base);
  double a = runs->weight == NULL ? runs->common : runs->weight[s->j];
  double b = (a + a) * d, c = a * (radius * radius * s->left - d * d);
  uint64_t* from = cells + (size_t)(start - begin) * 3 * runs->limbs;
  uint64_t* to = cells + (size_t)(stop - begin) * 3 * runs->limbs;
  for (int limb = 0; limb < runs->limbs; ++limb) {
    const uint64_t A = (uint64_t)(int64_t)nearest(a), B = (uint64_t)(int64_t)nearest(b);
    const uint64_t C = (uint64_t)(int64_t)nearest(c), half = B + k * A;
    const uint64_t number[3] = {A, half + k * A, C - half * k};
    for (int i = 0; i < 3; ++i) {
      from[3 * limb + i] += number[i];
      if (stop < end) to[3 * limb + i] -= number[i];
    }
    a = (a - nearest(a)) * runs->limb_scale;
    b = (b - nearest(b)) * runs->limb_scale;
    c = (c - nearest(c)) * runs->limb_scale;
  }
}

static void add_sample(const struct kestrel_gpu_scanline* runs,
                       const struct kestrel_gpu_scanline_tile* tile, size_t j, uint64_t* cells) {
  const int row_axis = runs->axes - 2, run_axis = row_axis + 1;
  struct sample s = {j, {0}, 0, 0};
  double base, row_base, run_base;
  for (int i = 0; i < row_axis; ++i) {
    const double centre = centre_of(runs, &s, i, i, &base);
    s.y[i] = (((tile->outer[i] - base) + tile->outer_shift[i]) - centre) * runs->inverse[i];
    s.squares += s.y[i] * s.y[i];
  }
  const double row_centre = centre_of(runs, &s, row_axis, row_axis, &row_base);
  const double run_centre = centre_of(runs, &s, run_axis, row_axis, &run_base);
  if (!(runs->room - s.squares > 0)) return;
  for (int row = tile->row_begin; row < tile->row_end; ++row) {
    const double from = (row - row_base) + shift_of(&runs->axis[row_axis], row);
    const double y = (from - row_centre) * runs->inverse[row_axis];
    s.left = runs->room - (s.squares + y * y);
    add_run(runs, tile, &s, run_base, run_centre + runs->slope[run_axis][row_axis] * y,
            cells + (size_t)(row - tile->row_begin) * tile->row_length * 3 * runs->limbs);
  }
}

static void write_row(const struct kestrel_gpu_scanline* runs, const struct kestrel_gpu_scanline_tile* tile,
                      const uint64_t* cells, double largest[2], double* out) {
  uint64_t sum[12] = {0};
  for (int t = tile->run_begin; t < tile->run_end; ++t, out += runs->run_stride) {
    double value = 0;
    for (int i = 0; i < 3 * runs->limbs; ++i) sum[i] += *cells++;
    for (int limb = runs->limbs - 1; limb >= 0; --limb) {
      const uint64_t* number = sum + 3 * limb;
      const uint64_t at = number[0] * (uint64_t)t, slope = number[1] - at;
      const double part = (double)(int64_t)(number[2] + slope * (uint64_t)t);
      const double shift = shift_of(&runs->axis[runs->axes - 1], t);
      largest[limb > 0] = fmax(largest[limb > 0], fabs(part));
      value = part + value * runs->limb;
      if (limb > 0) continue;
      const double bend = (double)(int64_t)number[0] * shift;
      value += ((double)(int64_t)(slope - at) - bend) * shift;
    }
    *out = fmax(value, 0) * runs->factor * runs->power;
  }
}

static void make_tile(const struct kestrel_gpu_scanline* runs, const struct kestrel_gpu_scanline_slab* slab,
                      size_t t, double largest[2], double* values) {
  const struct kestrel_gpu_scanline_tile* tile = slab->tile + t;
  const size_t rows = (size_t)(tile->row_end - tile->row_begin);
  const size_t row = tile->row_length * 3 * (size_t)runs->limbs;
  const size_t end = t + 1 < slab->tiles ? tile[1].first_range : slab->ranges;
  uint64_t* cells = calloc(rows * row, sizeof *cells);
  for (size_t r = tile->first_range; r < end; ++r) {
    for (size_t j = slab->range[r].begin; j < slab->range[r].end; ++j) {
      add_sample(runs, tile, j, cells);
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    write_row(runs, tile, cells + i * row, largest,
              values + tile->first_point + i * runs->row_stride);
  }
  free(cells);
}

int fake_scanline_open(const struct kestrel_gpu_scanline* given, void** out, char* problem, size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  struct kestrel_gpu_scanline* runs = malloc(sizeof *runs);
  *runs = *given;
  for (int i = 0; i < runs->axes; ++i) {
    struct kestrel_gpu_scanline_axis* axis = &runs->axis[i];
    if (axis->x != NULL) axis->x = fake_copied(axis->x, runs->n);
    if (axis->shift != NULL) axis->shift = fake_copied(axis->shift, axis->count);
  }
  if (runs->weight != NULL) runs->weight = fake_copied(runs->weight, runs->n);
  *out = runs;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int fake_scanline_slab(void* handle, const struct kestrel_gpu_scanline_slab* slab, double largest[2],
                   kestrel_gpu_take take, kestrel_gpu_poll poll, void* context, char* problem,
                   size_t room) {
  const struct kestrel_gpu_scanline* runs = handle;
  const int code = fake_failing("FAKE_CUDA_SLAB", problem, room);
  if (code != KESTREL_GPU_OK) return code;
  size_t first = 0;
  int stopped = 0;
  largest[0] = largest[1] = 0;
  for (size_t p = 0; p < slab->parts && !stopped; ++p) {
    const size_t end = p + 1 < slab->parts ? slab->part[p + 1].first_tile : slab->tiles;
    double* values = malloc((slab->part[p].points + 1) * sizeof *values);
    for (size_t t = slab->part[p].first_tile; t < end && !stopped; ++t) {
      make_tile(runs, slab, t, largest, values);
      stopped = fake_asked(poll, context, (double)t / (double)slab->tiles);
    }
    if (!stopped && take != NULL) stopped = take(context, first, values, slab->part[p].points);
    first += slab->part[p].points;
    free(values);
  }
  return stopped ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

void fake_scanline_close(void* handle) {
  struct kestrel_gpu_scanline* runs = handle;
  fake_holds(-1);
  for (int i = 0; i < runs->axes; ++i) {
    free((void*)runs->axis[i].x);
    free((void*)runs->axis[i].shift);
  }
  free((void*)runs->weight);
  free(runs);
}
