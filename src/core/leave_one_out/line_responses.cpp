#include "core/leave_one_out/line_responses.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/data/passes.hpp"
#include "core/mixed/mixed_tiles.hpp"

namespace kestrel {

namespace {

/// Places of a work item, at least.
constexpr std::size_t kOfResponses = 4096;

}  // namespace

ResponseLine::ResponseLine(const MixedSample& sample, std::size_t given, double h,
                           const ParallelOptions& options) {
  const std::size_t n = sample.size();
  RawArray<double> x(n);
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = std::isinf(h) ? 0.0 : sample.x(given)[i];
  });
  const SortedSample line({x.data(), n}, Weights::ones(n), {}, options);
  std::vector<double> position, count;
  serial_for(n, options, [&](std::size_t i) {
    if (i == 0 || line.x()[i] != line.x()[i - 1]) {
      position.push_back(line.x()[i]);
      count.push_back(0.0);
      first_.push_back(static_cast<std::uint32_t>(i));
    }
    ++count.back();
    row_.push_back(static_cast<std::uint32_t>(line.given(i)));
  });
  first_.push_back(static_cast<std::uint32_t>(n));
  const Span<const double> counts{count.data(), count.size()};
  source_ = std::make_unique<LocalSource>(
      SortedSample({position.data(), position.size()}, counts, {}, options), false);
  for (std::size_t c = 0; c < sample.columns(); ++c) {
    if (c == given) continue;
    column_.emplace_back(n);
    const RawArray<double>& to = column_.back();
    pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i] = sample.x(c)[row_[i]];
    });
  }
}

const ResponseLine& response_line(const MixedSample& sample, std::size_t given, double h,
                                  const ParallelOptions& options) {
  // Of each column, and of none.
  using Lines = std::map<std::size_t, std::unique_ptr<const ResponseLine>>;
  Lines& lines = sample.prepared<Lines>([] { return std::make_unique<Lines>(); });
  std::unique_ptr<const ResponseLine>& line = lines[std::isinf(h) ? sample.columns() : given];
  if (line == nullptr) line = std::make_unique<const ResponseLine>(sample, given, h, options);
  return *line;
}

LineResponses::LineResponses(const ResponseLine& line, const MixedKernel& kernel,
                             const std::vector<double>& h, bool gradient, const NodeLevel* level,
                             const simd::Table& table)
    : line_(line),
      below_(kernel, MixedForm::distribution),
      kinds_(1 + (gradient ? line.columns() : 0)),
      level_(level),
      table_(table),
      value_(kPoints * kinds_ * line.size()),
      of_place_(line.tied() ? kPoints * kinds_ * line.places() : 0) {
  for (const double one : h) scale_.push_back(below_.scale / one);
  if (level != nullptr) {
    take_positions();
  } else {
    for (std::size_t p = 0; p < line.places(); p += kOfResponses) items_.push_back(p);
  }
  items_.push_back(level != nullptr ? level->cells() : line.places());
}

void LineResponses::take(const double* point, std::size_t count, const ParallelOptions& options) {
  points_ = count;
  const std::size_t ranges = items_.size() - 1;
  parallel_for(ranges * count, options, [&](std::size_t item, int) {
    const std::size_t g = item / ranges, range = item % ranges;
    const std::size_t begin = items_[range], end = items_[range + 1];
    const bool cells = level_ != nullptr;
    take_places(point + g * scale_.size(), g, cells ? level_->first[begin] : begin,
                cells ? level_->first[end] : end);
    for (std::size_t c = begin; c < end && cells; ++c) take_cell(g, c);
  });
}

void LineResponses::take_positions() {
  const SortedSample& places = line_.source().sample();
  const double scale = std::ldexp(1.0, -level_->exponent);
  t_ = RawArray<double>(places.size());
  parts_ = RawArray<double>(level_->cells() * kPoints * kinds_ * kNodes);
  std::size_t size = kOfResponses;
  for (std::size_t c = 0; c < level_->cells(); ++c) {
    if (size >= kOfResponses) {
      items_.push_back(c);
      size = 0;
    }
    for (std::size_t p = level_->first[c]; p < level_->first[c + 1]; ++p) {
      t_[p] = 2 * exact_difference(places.x()[p] * scale, level_->key[c] + 0.5).high;
    }
    size += level_->first[c + 1] - level_->first[c];
  }
}

void LineResponses::take_places(const double* point, std::size_t g, std::size_t begin,
                                std::size_t end) {
  const std::size_t from = line_.first(begin), to = line_.first(end);
  const double* x[simd::kMixedColumns];
  double* slope[simd::kMixedColumns];
  for (std::size_t c = 0; c < scale_.size(); ++c) x[c] = line_.column(c);
  for (std::size_t tile = from; tile < to; tile += MixedTiles::kTile) {
    const auto values_of = [&](std::size_t kind) {
      return value_.data() + (kind * points_ + g) * line_.size() + tile;
    };
    for (std::size_t kind = 1; kind < kinds_; ++kind) slope[kind - 1] = values_of(kind);
    const simd::MixedProduct product{x,
                                     point,
                                     scale_.data(),
                                     static_cast<int>(scale_.size()),
                                     below_.window,
                                     below_.q.empty() ? nullptr : below_.q.data(),
                                     below_.p.data(),
                                     below_.terms,
                                     0.0,
                                     values_of(0),
                                     kinds_ > 1 ? slope : nullptr,
                                     false};
    table_.mixed->product(product, tile, std::min(to, tile + MixedTiles::kTile) - tile);
  }
  for (std::size_t kind = 0; kind < kinds_ && line_.tied(); ++kind) {
    const double* value = values(kind * points_ + g);
    double* sum = of_place_.data() + (kind * points_ + g) * line_.places();
    for (std::size_t p = begin; p < end; ++p) {
      sum[p] = 0;
      for (std::size_t i = line_.first(p); i < line_.first(p + 1); ++i) sum[p] += value[i];
    }
  }
}

void LineResponses::take_cell(std::size_t g, std::size_t cell) {
  const std::size_t begin = level_->first[cell], count = level_->first[cell + 1] - begin;
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    const std::size_t f = kind * points_ + g;
    double sum[kNodes], weight[kNodes] = {};
    table_.nodes->chebyshev_sums(t_.data() + begin, of_places(f) + begin, nullptr, count, 1, sum);
    table_.nodes->add_product(node_tables().weights, sum, weight);
    to_parts(weight, parts_.data() + (cell * kPoints * kinds_ + f) * kNodes);
  }
}

}  // namespace kestrel
