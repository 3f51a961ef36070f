#include "core/bootstrap/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/base/whole.hpp"

namespace kestrel {

namespace {

/// Two independent normal numbers, by Marsaglia's polar method (Marsaglia & Bray 1964).
struct NormalPair {
  explicit NormalPair(UniformStream* uniform) {
    double square;
    do {
      const std::array<double, 2> two = uniform->next_two();
      first = 2 * two[0] - 1;
      second = 2 * two[1] - 1;
      square = first * first + second * second;
    } while (square >= 1);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    first *= scale;
    second *= scale;
  }
  double first, second;
};

/// Draws from the radial Epanechnikov kernel in d dimensions: the first d coordinates of a uniform
/// point on the unit sphere in N = d + 4 dimensions. (The density of such a projection is
/// proportional to (1 - r^2)^((N - d - 2) / 2).) The point is a vector of N normal numbers divided
/// by its length. The sum of the last four squares is -2 log of a product of two uniform numbers.
void draw_kernel(UniformStream* uniform, std::size_t d, double* u) {
  double squares = 0;
  for (std::size_t k = 0; k < d; k += 2) {
    const NormalPair pair(uniform);
    u[k] = pair.first;
    squares += u[k] * u[k];
    if (k + 1 == d) break;
    u[k + 1] = pair.second;
    squares += u[k + 1] * u[k + 1];
  }
  const std::array<double, 2> two = uniform->next_two();
  squares -= 2 * std::log(two[0] * two[1]);
  const double scale = 1 / std::sqrt(squares);
  for (std::size_t k = 0; k < d; ++k) u[k] *= scale;
}

/// Rows drawn per item, that is between two polls.
constexpr std::size_t kRows = 4096;

}  // namespace

SmoothedSample::SmoothedSample(const MatrixView& x, Weights w, Span<const double> root, double h0,
                               std::size_t size, std::uint64_t key)
    : x_(x), root_(root), h0_(h0), size_(size), key_(key), parts_(static_cast<double>(w.size)) {
  if (std::max(size, w.size) > std::numeric_limits<std::uint32_t>::max()) {
    throw error(ErrorKind::input, "a bootstrap takes fewer than 2^32 rows");
  }
  if (w.absent() || std::all_of(w.data, w.data + w.size, [&](double one) { return one == w[0]; })) {
    return;
  }
  double sum = 0;
  for (std::size_t i = 0; i < w.size; ++i) cumulative_.push_back(sum += w[i]);
  parts_ /= sum;
  // guide_[k]: the cumulative sums of the rows before this one are below every value in part k.
  std::size_t i = 0;
  for (std::size_t k = 0; k < w.size; ++k) {
    while (cumulative_[i] * parts_ < static_cast<double>(k)) ++i;
    guide_.push_back(static_cast<std::uint32_t>(i));
  }
}

std::size_t SmoothedSample::row(double uniform) const {
  const auto part = [&](double value) {
    return std::min(whole_number<std::size_t>(value * parts_), x_.rows - 1);
  };
  if (cumulative_.empty()) return part(uniform);
  const double total = cumulative_.back(), value = uniform * total;
  std::size_t i = guide_[part(value)];
  // Finds the first sum above the value. If the value was rounded up to the total, this is the last
  // row with a weight, since rows without one repeat the sum before.
  while (cumulative_[i] <= value && cumulative_[i] < total) ++i;
  return i;
}

void SmoothedSample::draw(std::uint32_t replicate, const ParallelOptions& options,
                          Span<double> out) const {
  const std::size_t d = x_.cols;
  parallel_for((size_ + kRows - 1) / kRows, options, [&](std::size_t block, int) {
    std::vector<double> u(d);
    const std::size_t end = std::min((block + 1) * kRows, size_);
    for (std::size_t i = block * kRows; i < end; ++i) {
      UniformStream uniform(key_, replicate, static_cast<std::uint32_t>(i));
      const std::size_t from = row(uniform.next());
      draw_kernel(&uniform, d, u.data());
      for (std::size_t k = 0; k < d; ++k) {
        double shift = 0;
        for (std::size_t j = 0; j <= k; ++j) shift += root_[k + j * d] * u[j];
        out[k * size_ + i] = x_(from, k) + h0_ * shift;
      }
    }
  });
}

void bootstrap_errors(const SmoothedSample& samples, const SquaredErrors& errors,
                      std::size_t replicates, const RunOptions& options, Span<double> out) {
  const std::size_t size = samples.size(), d = samples.variables();
  const std::size_t threads = static_cast<std::size_t>(parallel_threads(options.parallel));
  std::vector<std::vector<double>> drawn(threads);
  std::vector<SquaredErrors::Workspace> workspaces(threads);
  const auto body = [&](std::size_t replicate, int worker, const ParallelOptions& inner) {
    const std::size_t own = static_cast<std::size_t>(worker);
    std::vector<double> of_each(errors.bandwidths());
    drawn[own].resize(size * d);
    // Polls, but counts as no share of the work, since it is cheap.
    samples.draw(static_cast<std::uint32_t>(replicate), part_of(inner, 0, 0),
                 {drawn[own].data(), drawn[own].size()});
    errors.of({drawn[own].data(), size, d}, {options.table, inner}, &workspaces, own,
              {of_each.data(), of_each.size()});
    for (std::size_t j = 0; j < of_each.size(); ++j) out[j * replicates + replicate] = of_each[j];
  };
  parallel_tasks(replicates, errors.brief(size), options.parallel, body);
}

}  // namespace kestrel
