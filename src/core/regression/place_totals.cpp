#include "core/regression/place_totals.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.hpp"
#include "core/regression/costs.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

struct PlaceWindow {
  std::size_t first, end;
};

/// Places within `reach` of a position.
PlaceWindow places_within(const Places& places, double point, double reach) {
  const double *x = places.x(), *last = x + places.size();
  const double* first =
      std::partition_point(x, last, [&](double v) { return v < point && point - v >= reach; });
  const double* end =
      std::partition_point(first, last, [&](double v) { return v <= point || v - point < reach; });
  return {static_cast<std::size_t>(first - x), static_cast<std::size_t>(end - x)};
}

/// The sums at place p over the other places, relative to the mean response of the place, and over
/// all of its own observations but one.
FitSums sums_at(const GaussianCall& call, const Places& places, std::size_t p, double count) {
  const double h = call.kernel.h, point = places.x()[p];
  simd::GaussianWindow window{};
  window.x = places.x();
  window.w = places.w();
  window.y = places.y();
  window.more = places.more();
  window.point = point;
  window.reference = places.y()[p];
  window.scale = 1 / h;
  window.slope = call.kernel.slope;
  window.power = 1;
  window.factor = call.factors.all_one ? nullptr : call.factors.of[0].term;
  const PlaceWindow used =
      places_within(places, point, gaussian_reach(0.0, call.cut, kGaussianReach, h));
  if (used.first < p) call.table.sweep->gaussian_window(window, used.first, p);
  if (p + 1 < used.end) call.table.sweep->gaussian_window(window, p + 1, used.end);
  const double* sum = window.sum;
  const double mean = places.more()[p];
  return {sum[0] + (count - 1), sum[1] - mean * sum[0], sum[2], sum[3] - mean * sum[2], sum[4]};
}

}  // namespace

void add_place(const GaussianCall& call, const LocalFitter& fitter, std::size_t p,
               FitTotals& totals) {
  const SortedSample& sample = call.source.sample();
  const Places& places = *call.source.places();
  const std::size_t begin = places.first(p), end = places.first(p + 1);
  const double count = static_cast<double>(end - begin), point = places.x()[p];
  const double* y = sample.y();
  const auto above = [&](std::size_t i) { return (y[i] - places.y()[p]) - places.more()[p]; };
  const PlaceWindow seen = places_within(places, point, kGaussianReach * call.kernel.h);
  LocalFit fit =
      fitter.of_sums(call.kernel, sums_at(call, places, p, count), seen.end - seen.first);
  if (fit.unstable) {
    poll_if_due({});  // a window may hold all of the sample
    fit = fitter.direct(call.kernel, point, y[begin], places.first(seen.first),
                        places.first(seen.end), begin, nullptr, nullptr);
    fit.deviation += (1 + fit.constant / fit.scale) * above(begin);
  }
  const double own = fit.constant / fit.scale, outside = 1 + own;
  const double squares =
      count * fit.deviation * fit.deviation + outside * outside * places.squares()[p];
  totals.squares += squares;
  totals.in_sample += squares / (outside * outside);
  totals.trace += count * own / outside;
}

bool places_pay(const GaussianCall& call, std::size_t begin, std::size_t end) {
  const Places* places = call.source.places();
  if (places == nullptr || !call.source.sample().unit_weights()) return false;
  const std::size_t from = places->of(begin), to = places->of(end - 1) + 1;
  const double reach = gaussian_reach(0.0, call.cut, kGaussianReach, call.kernel.h);
  const double pairs = static_cast<double>(places_within(*places, places->x()[to - 1], reach).end -
                                           places_within(*places, places->x()[from], reach).first);
  return static_cast<double>(to - from) * (kPlaceFitNs + kGaussianPairNs * pairs) <
         static_cast<double>(end - begin) * kCellFitNs;
}

}  // namespace kestrel
