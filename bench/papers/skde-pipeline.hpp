// The accelerator pipeline of Lopez-Novoa (2015), chapter 7, section 4.2 (OpenCL there): S-KDE in
// chunks of samples, each in the stages Computation (steps 2 to 5: box fit and chop, crop, prefix
// sum, density computation; on the accelerator), Transfer (step 6) and Consolidation (step 7, on
// the host, serial), one after another or with the Consolidation of a chunk overlapped with the
// Computation and Transfer of the next (section 5.3, two-stage pipeline).
//
// What is theirs: the steps, each a function of one work-item, which leave their results in the
// memory of the accelerator for the next one; a density for every point of a cropped slice in an
// auxiliary vector, ordered by the prefix sum; chunks with a power of two of samples, as many as
// have bounding boxes that fit in one object of the accelerator's memory; double precision; the two
// threads. Geometry: skde-geometry.hpp, with the corrections that skde.hpp lists.
//
// Here the work-items run on the host (HostDevice), where separate memory acts as the accelerator's
// and Transfer is a copy; skde-pipeline.cu runs them on a GPU. In two dimensions, where they leave
// out steps 2 and 3, the only slice is the box.
#ifndef KESTREL_BENCH_PAPERS_SKDE_PIPELINE_HPP
#define KESTREL_BENCH_PAPERS_SKDE_PIPELINE_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <future>
#include <utility>
#include <vector>

#include "skde-geometry.hpp"

namespace lopez_novoa {

// A slice of a sample's box: the first point of its rectangle on the axes 0 and 1 and its position
// on the others, and the points of the rectangle on the axes 0 and 1 (none: nothing to do).
template <int d>
struct Slice {
  int at[d], count[2];
};

// ---- step 1: the data for the accelerator, and the generic bounding box
template <int d>
struct Accelerator {
  explicit Accelerator(const Problem& p)
      : samples(p.samples), constant(p.constant), crop(p.inverse) {
    std::copy_n(p.inverse, d * d, inverse);
    for (int k = 0; k < d; ++k) {
      origin[k] = p.origin[k];
      step[k] = p.step[k];
      per_unit[k] = 1 / p.step[k];
      reach[k] = p.reach[k];
      points[k] = p.points[k];
      // One more than fit, since ceil and floor are of rounded numbers.
      box[k] = std::min(points[k], static_cast<int>(2 * reach[k] * per_unit[k]) + 2);
      box_points *= static_cast<std::size_t>(box[k]);
      if (k >= 2) slices *= box[k];
    }
  }
  ON_BOTH double at(std::size_t s, int k) const { return sample[k * samples + s]; }

  std::size_t samples;
  double constant;
  Crop<d> crop;
  double inverse[d * d], origin[d], step[d], per_unit[d], reach[d];
  int points[d], box[d];       // of the grid; maximum for a bounding box
  int slices = 1;              // of a bounding box
  std::size_t box_points = 1;  // of a bounding box
  // In the accelerator's memory: all samples, variable by variable; and for the present chunk its
  // slices, the number of points of each of them and then where its densities begin (with one entry
  // more for the end), and the densities.
  const double* sample = nullptr;
  Slice<d>* slice = nullptr;
  std::size_t* offset = nullptr;
  double* density = nullptr;
};

// Samples whose boxes one object of `bytes` holds, rounded down to a power of two; at least one.
template <int d>
std::size_t chunk_size(const Accelerator<d>& a, double bytes) {
  std::size_t chunk = 1;
  while (2.0 * chunk * a.box_points * sizeof(double) <= bytes) chunk *= 2;
  return chunk;
}

// ---- step 2, box fit and chop: work-item i is sample first + i
template <int d>
ON_BOTH inline void fit_and_chop(const Accelerator<d>& a, std::size_t first, std::size_t i) {
  Interval box[d];
  bool hits = true;
  for (int k = 0; k < d; ++k) {
    box[k] =
        points_within(a.at(first + i, k) - a.origin[k], a.reach[k], a.per_unit[k], a.points[k]);
    hits = hits && box[k].from < box[k].to;
  }
  for (int t = 0; t < a.slices; ++t) {
    Slice<d>& slice = a.slice[i * a.slices + t];
    bool there = hits;
    int rest = t;
    for (int k = 2; k < d; ++k) {
      slice.at[k] = box[k].from + rest % a.box[k];
      rest /= a.box[k];
      there = there && slice.at[k] < box[k].to;
    }
    for (int k = 0; k < 2; ++k) {
      slice.at[k] = box[k].from;
      slice.count[k] = there ? box[k].to - box[k].from : 0;
    }
  }
}

// ---- step 3, crop: work-item j is slice j % slices of sample first + j / slices
template <int d>
ON_BOTH inline void crop(const Accelerator<d>& a, std::size_t first, std::size_t j) {
  Slice<d>& slice = a.slice[j];
  const std::size_t s = first + j / a.slices;
  double e[d], centre[2], reach[2];
  for (int k = 2; k < d; ++k) e[k] = a.origin[k] + slice.at[k] * a.step[k] - a.at(s, k);
  bool there = slice.count[0] > 0 && a.crop.rectangle(e, centre, reach);
  for (int k = 0; there && k < 2; ++k) {
    const Interval interval =
        points_within(a.at(s, k) + centre[k] - a.origin[k], reach[k], a.per_unit[k], a.points[k]);
    slice.at[k] = interval.from;
    slice.count[k] = interval.to - interval.from;
    there = slice.count[k] > 0;
  }
  if (!there) slice.count[0] = slice.count[1] = 0;
  a.offset[j] = static_cast<std::size_t>(slice.count[0]) * static_cast<std::size_t>(slice.count[1]);
}

// ---- step 5, density computation: of sample s at a point of the grid, given by its indices
template <int d, std::size_t... k>
ON_BOTH inline double density_at(const Accelerator<d>& a, std::size_t s, const int* index,
                                 std::index_sequence<k...>) {
  const double q =
      distance(a.inverse, a.origin[k] + index[k] * a.step[k] - a.at(s, static_cast<int>(k))...);
  return density(q, a.constant);
}

// ---- step 7 and its data on the host

// The results of one chunk.
template <int d>
struct Partial {
  std::vector<Slice<d>> slice;
  std::vector<double> density;
  std::size_t slices = 0, densities = 0;  // used
  Partial(const Accelerator<d>& a, std::size_t chunk)
      : slice(chunk * a.slices), density(chunk * a.box_points) {}
};

template <int d>
void consolidate(const Partial<d>& partial, const Problem& p) {
  std::size_t stride[d];
  stride[0] = 1;
  for (int k = 1; k < d; ++k) stride[k] = stride[k - 1] * p.points[k - 1];
  const double* from = partial.density.data();
  for (std::size_t j = 0; j < partial.slices; ++j) {
    const Slice<d>& slice = partial.slice[j];
    double* rectangle = p.grid;
    for (int k = 0; k < d; ++k) rectangle += slice.at[k] * stride[k];
    for (int row = 0; row < slice.count[1]; ++row) {
      double* const into = rectangle + row * stride[1];
      for (int i = 0; i < slice.count[0]; ++i) into[i] += from[i];
      from += slice.count[0];
    }
  }
}

// ---- the pipeline

// Seconds of each stage, summed over the chunks, and in all; densities transferred.
struct Stages {
  double computation = 0, transfer = 0, consolidation = 0, total = 0;
  std::size_t densities = 0;
};

template <class Work>
void add_seconds(double* sum, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  *sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// device.compute(first, count) does steps 2 to 5 for a chunk, device.transfer(partial) step 6.
// Initialisation and finalisation are not in the total, as in table 4.
template <int d, class Device>
Stages run_pipeline(Device& device, const Problem& p, std::size_t chunk, bool overlapped) {
  Stages stages;
  Partial<d> partial[2] = {Partial<d>(device.accelerator(), chunk),
                           Partial<d>(device.accelerator(), chunk)};
  add_seconds(&stages.total, [&] {
    std::future<void> consolidating;
    int turn = 0;
    for (std::size_t first = 0; first < p.samples; first += chunk, turn = 1 - turn) {
      const std::size_t count = std::min(chunk, p.samples - first);
      Partial<d>& now = partial[turn];
      add_seconds(&stages.computation, [&] { device.compute(first, count); });
      add_seconds(&stages.transfer, [&] { device.transfer(now); });
      stages.densities += now.densities;
      if (consolidating.valid()) consolidating.get();
      const auto work = [&] { add_seconds(&stages.consolidation, [&] { consolidate(now, p); }); };
      if (overlapped) {
        consolidating = std::async(std::launch::async, work);
      } else {
        work();
      }
    }
    if (consolidating.valid()) consolidating.get();
  });
  return stages;
}

// ---- the host as the accelerator

// Steps 2 to 5 for the samples first, ..., first + count - 1.
template <int d>
inline void compute_chunk(const Accelerator<d>& a, std::size_t first, std::size_t count) {
  const std::size_t slices = count * a.slices;
  for (std::size_t i = 0; i < count; ++i) fit_and_chop(a, first, i);
  for (std::size_t j = 0; j < slices; ++j) crop(a, first, j);
  std::size_t sum = 0;  // step 4
  for (std::size_t j = 0; j < slices; ++j) sum += std::exchange(a.offset[j], sum);
  a.offset[slices] = sum;
  for (std::size_t j = 0; j < slices; ++j) {
    const Slice<d> slice = a.slice[j];
    const std::size_t s = first + j / a.slices;
    double* out = a.density + a.offset[j];
    for (int row = 0; row < slice.count[1]; ++row, out += slice.count[0]) {
#if defined(_OPENMP)
#pragma omp simd
#endif
      for (int i = 0; i < slice.count[0]; ++i) {
        int at[d];
        for (int k = 0; k < d; ++k) at[k] = slice.at[k];
        at[0] += i;
        at[1] += row;
        out[i] = density_at(a, s, at, std::make_index_sequence<d>());
      }
    }
  }
}

template <int d>
class HostDevice {
 public:
  using Compute = void (*)(const Accelerator<d>&, std::size_t, std::size_t);
  HostDevice(const Problem& p, double object_bytes, Compute compute = compute_chunk<d>)
      : accelerator_(p),
        compute_(compute),
        chunk_(chunk_size(accelerator_, object_bytes)),
        sample_(p.sample, p.sample + p.samples * d),
        slice_(chunk_ * accelerator_.slices),
        offset_(slice_.size() + 1),
        density_(chunk_ * accelerator_.box_points) {
    accelerator_.sample = sample_.data();
    accelerator_.slice = slice_.data();
    accelerator_.offset = offset_.data();
    accelerator_.density = density_.data();
  }
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  const Accelerator<d>& accelerator() const { return accelerator_; }
  std::size_t chunk() const { return chunk_; }
  void compute(std::size_t first, std::size_t count) {
    used_ = count * accelerator_.slices;
    compute_(accelerator_, first, count);
  }
  void transfer(Partial<d>& to) const {
    to.slices = used_;
    to.densities = offset_[used_];
    std::memcpy(to.slice.data(), slice_.data(), used_ * sizeof(Slice<d>));
    std::memcpy(to.density.data(), density_.data(), to.densities * sizeof(double));
  }

 private:
  Accelerator<d> accelerator_;
  Compute compute_;
  std::size_t chunk_, used_ = 0;
  std::vector<double> sample_;
  std::vector<Slice<d>> slice_;
  std::vector<std::size_t> offset_;
  std::vector<double> density_;
};

}  // namespace lopez_novoa

#endif
