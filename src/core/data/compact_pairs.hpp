// Pairs of a point and samples whose kernels are compact and have bandwidths of their own, or that
// of the point.
#ifndef KESTREL_CORE_DATA_COMPACT_PAIRS_HPP
#define KESTREL_CORE_DATA_COMPACT_PAIRS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/compact_profile.hpp"

namespace kestrel {

/// The sums out[i] = sum_j w_j K_h(e_i - x_j) at points e_i, with h = h_j, or h = h_i by point;
/// K_h(u) = h^-d K(u / h) for a compact radial kernel. x: n*d, d at most kVariableAxes; h: n or, by
/// point, m positive numbers. A view: all that it refers to must outlive it.
struct VariableTask {
  MatrixView x;
  Weights w;
  Span<const double> h;
  bool by_point;
  Kernel kernel;
  const EvaluationPoints& at;
};

constexpr std::size_t kVariableAxes = 3;

/// Throws error(internal) if sizes do not match.
void check_variable_task(const VariableTask& task, Span<double> out);

/// Samples that are summed at a time, and one after the other as a sum of its own.
constexpr std::size_t kPairLanes = 8, kPairBlock = 64;

/// Samples, coordinate by coordinate, in the order given.
class CompactPairs {
 public:
  /// order: numbers of the samples, or null.
  CompactPairs(const VariableTask& task, const std::size_t* order);

  std::size_t size() const { return n_; }
  std::size_t dimension() const { return d_; }
  double x(std::size_t j, std::size_t k) const { return x_[k][j]; }
  /// Of sample j, or one by point.
  double h(std::size_t j) const { return h_.empty() ? 1.0 : h_[j]; }
  /// w_j h_j^-d, or w_j by point.
  double weight(std::size_t j) const { return weight_[j]; }

  /// The sum over samples begin, ..., end - 1, without the kernel's constant and, by point, without
  /// h^-d. Points at exactly h count for the uniform kernel. `begin` is a multiple of kPairBlock,
  /// and so is `end` or it is the number of samples.
  template <class Profile>
  double sum(const Profile& profile, const double* at, double h, std::size_t begin,
             std::size_t end) const {
    double total = 0;
    for (std::size_t first = begin; first < end; first += kPairBlock) {
      const std::size_t last = first + kPairBlock < end ? first + kPairBlock : end;
      total += h_.empty() ? sum_block<Profile, true>(profile, at, h, first, last)
                          : sum_block<Profile, false>(profile, at, h, first, last);
    }
    return total;
  }

 private:
  template <class Profile, bool by_point>
  double sum_block(const Profile& profile, const double* at, double h, std::size_t begin,
                   std::size_t end) const {
    double sums[kPairLanes] = {};
    const double inverse = 1 / h;
    for (std::size_t j = begin; j < end; j += kPairLanes) {
      double square[kPairLanes] = {};
      for (std::size_t k = 0; k < d_; ++k) {
        const double* x = x_[k].data() + j;
        for (std::size_t i = 0; i < kPairLanes; ++i) {
          // On the edge of a uniform kernel the quotient itself decides.
          const double u = Profile::closed
                               ? (at[k] - x[i]) / (by_point ? h : h_[j + i])
                               : (at[k] - x[i]) * (by_point ? inverse : inverse_[j + i]);
          square[i] += u * u;
        }
      }
      for (std::size_t i = 0; i < kPairLanes; ++i) {
        const bool within = Profile::closed ? square[i] <= 1 : square[i] < 1;
        sums[i] += within ? weight_[j + i] * profile(square[i]) : 0.0;
      }
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }

  std::size_t n_, d_;
  // With samples of weight zero up to a multiple of kPairLanes. By point no h_ and no inverse_.
  std::vector<double> x_[kVariableAxes], weight_, h_, inverse_;
};

/// Calls value(point, h) for each point, on all threads, and writes it times the kernel's constant
/// and, by point, h^-d.
template <class Value>
void for_variable_points(const VariableTask& task, const ParallelOptions& options, Span<double> out,
                         const Value& value) {
  constexpr std::size_t points_of_item = 16;
  const double scale = unit_scale(task.kernel, task.x.cols);
  parallel_for((out.size + points_of_item - 1) / points_of_item, options,
               [&](std::size_t item, int) {
                 double at[kVariableAxes];
                 const std::size_t end = std::min(out.size, (item + 1) * points_of_item);
                 for (std::size_t i = item * points_of_item; i < end; ++i) {
                   poll_if_due(options);
                   if (loop_is_stopped()) return;
                   task.at.copy(i, at);
                   const double h = task.by_point ? task.h[i] : 1.0;
                   double sum = scale * value(at, h);
                   for (std::size_t k = 0; k < task.x.cols && task.by_point; ++k) sum /= h;
                   out[i] = sum;
                 }
               });
}

/// The distances, in bandwidths, of at most 64 points and 64 samples that are spread over all: for
/// plans.
std::vector<double> some_distances(const VariableTask& task);

}  // namespace kestrel

#endif
