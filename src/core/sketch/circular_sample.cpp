#include "core/sketch/circular_sample.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <utility>

#include "core/data/ties.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/kernel/kernel.hpp"
#include "core/sketch/sketch_sample.hpp"

namespace kestrel {

namespace {

constexpr int kMoments = LineSketch::kMoments;
/// Cells of the sample are 2^-kHalvings as wide as those of the sketch.
constexpr int kHalvings = 2;

/// v moved by whole periods to [0, period).
long double within_period(long double v, double period) {
  const long double rest = std::fmod(v, static_cast<long double>(period));
  return rest < 0 ? rest + period : rest;
}

/// The angle of the mean direction: that of the sum of w exp(i 2 pi x / period), which is the sum
/// over cells of exp(i centre) sum_a (i width)^a moment[a], in angles.
double mean_direction(const GivenCells& cells, const std::vector<long double>& centre, double width,
                      double period) {
  const double step = 2 * kPi * width / period;
  std::complex<double> all = 0;
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    std::complex<double> sum = 0, power = 1;
    for (int a = 0; a < kMoments; ++a, power *= std::complex<double>(0, step)) {
      sum += power * cells.moment(c)[a];
    }
    all += std::polar(1.0, static_cast<double>(2 * kPi * (centre[c] / period))) * sum;
  }
  return std::arg(all);
}

/// Adds the moments of a cell to those of another, as wide as `share` of it, whose centre is
/// `offset` of its own widths below: z' = z / share + offset.
void add_moved(const double* moment, double share, double offset, double* to) {
  double scaled[kMoments], power[kMoments];
  double scale = 1, term = 1;
  for (int a = 0; a < kMoments; ++a) {
    scaled[a] = moment[a] * scale;
    scale /= share;
    power[a] = term;  // offset^a / a!
    term *= offset / (a + 1);
  }
  for (int a = 0; a < kMoments; ++a) {
    double sum = 0;
    for (int b = 0; b <= a; ++b) sum += scaled[b] * power[a - b];
    to[a] += sum;
  }
}

/// Where the cells of the sketch are in the period, ascending, and their weights.
struct CellsOfPeriod {
  double width;
  std::vector<double> centre, weight;
};

/// The cells 2^exponent wide that cells of a sketch with these centres, ascending in `order`, make.
GivenCells united(const GivenCells& cells, const std::vector<long double>& centre,
                  const std::vector<std::size_t>& order, int exponent) {
  GivenCells out{{}, {}, {}, {}, kMoments};
  for (const std::size_t c : order) {
    const long double at = std::ldexp(centre[c], -exponent);
    const long double key = std::floor(at);
    if (out.keys.empty() || out.keys.back() != static_cast<double>(key)) {
      out.keys.push_back(static_cast<double>(key));
      out.moments.resize(out.moments.size() + kMoments, 0.0);
      out.squares.push_back(0);
      out.counts.push_back(0);
    }
    add_moved(cells.moment(c), std::ldexp(1.0, -kHalvings), static_cast<double>(at - key - 0.5L),
              out.moments.data() + out.moments.size() - kMoments);
    out.squares.back() += cells.squares[c];
    out.counts.back() += cells.counts[c];
  }
  return out;
}

/// Of cells 2^exponent wide, about a place amid them.
SampleCovariance covariance_of(const GivenCells& cells, int exponent, double amid, double n) {
  long double one = 0, two = 0;
  const long double origin = std::ldexp(static_cast<long double>(amid), -exponent);
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    const double* moment = cells.moment(c);
    const long double at = cells.key(c) + 0.5L - origin;
    one += at * moment[0] + moment[1];
    two += at * at * moment[0] + 2 * at * moment[1] + 2 * moment[2];
  }
  const long double mean = one / n;
  const double variance = static_cast<double>(two / n - mean * mean);
  SampleCovariance found;
  found.mean = {{amid}, {static_cast<double>(std::ldexp(mean, exponent))}};
  found.covariance = {std::ldexp(std::max(variance, 0.0), 2 * exponent)};
  return found;
}

}  // namespace

std::unique_ptr<const Sample> circular_sample(const LineSketch& sketch, double lower, double period,
                                              const RunOptions& options) {
  const GivenCells cells = cells_with_moments(sketch, options);
  const WeightSums weights = weights_of_sample(sketch);
  const int exponent = sketch.plan().exponent;
  const double width = std::ldexp(1.0, exponent);
  // The remainder is exact, and after it the numbers are small.
  std::vector<long double> centre;
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    const long double at = (static_cast<long double>(cells.key(c)) + 0.5L) * width;
    centre.push_back(within_period(at, period) - within_period(lower, period));
  }
  const double middle = period * mean_direction(cells, centre, width, period) / (2 * kPi);
  for (long double& at : centre) at = within_period(at - middle + 0.5L * period, period);

  std::vector<std::size_t> order(cells.cells());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return centre[a] < centre[b]; });
  const GivenCells moved = united(cells, centre, order, exponent - kHalvings);
  const double n = static_cast<double>(sketch.n());
  auto sample = std::make_unique<const Sample>(static_cast<std::size_t>(sketch.n()),
                                               std::vector<double>{0, period});
  sample->prepared<LineSample>([&] {
    return std::make_unique<LineSample>(
        weights, ValueRange{0, period},
        std::make_unique<const CellMoments>(moved, exponent - kHalvings, kMoments, options));
  });
  sample->prepared<CellsOfPeriod>([&] {
    auto of_period = std::make_unique<CellsOfPeriod>();
    of_period->width = width;
    for (const std::size_t c : order) {
      of_period->centre.push_back(static_cast<double>(centre[c]));
      of_period->weight.push_back(cells.moment(c)[0]);
    }
    return of_period;
  });
  sample->prepared<WeightSums>([&] { return std::make_unique<WeightSums>(weights); });
  sample->prepared<Ties>([&] { return std::make_unique<Ties>(ties_of_sketch(sketch)); });
  sample->prepared<SampleCovariance>([&] {
    return std::make_unique<SampleCovariance>(
        covariance_of(moved, exponent - kHalvings, 0.5 * period, n));
  });
  return sample;
}

std::vector<double> circular_quantiles(const Sample& sample, Span<const double> prob) {
  const CellsOfPeriod& cells = *sample.found<CellsOfPeriod>();
  const double n = static_cast<double>(sample.n());
  std::vector<double> found;
  for (const double p : prob) {
    // Of type 7, in weights that sum to their number; samples are equally spaced in a cell.
    const double share = p * (n - 1) + 0.5;
    double before = 0;
    std::size_t c = 0;
    for (; c + 1 < cells.weight.size() && before + cells.weight[c] <= share; ++c) {
      before += cells.weight[c];
    }
    const double part = std::min((share - before) / cells.weight[c], 1.0) - 0.5;
    found.push_back(cells.centre[c] + part * cells.width);
  }
  return found;
}

}  // namespace kestrel
