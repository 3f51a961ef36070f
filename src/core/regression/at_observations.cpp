#include "core/regression/at_observations.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/summation.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

void square_errors(const RawArray<OfObservation>& found, const SortedSample& line, std::size_t rows,
                   const ParallelOptions& options) {
  const std::size_t n = line.size();
  struct Part {
    long double squares = 0, weight = 0;
    bool alone = false;
  };
  std::vector<Part> parts(parts_of_pass(n));
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Part here;
    for (std::size_t i = begin; i < end; ++i) {
      if (line.given(i) >= rows) continue;
      const double residual = found[i].leave_one_out;
      found[i].error2 = residual * residual;
      if (std::isnan(residual)) {
        here.alone = true;
      } else {
        here.squares += static_cast<long double>(line.w()[i]) * found[i].error2;
        here.weight += line.w()[i];
      }
    }
    parts[part] = here;
  });
  Part all;
  for (const Part& part : parts) {
    all.squares += part.squares;
    all.weight += part.weight;
    all.alone = all.alone || part.alone;
  }
  if (!all.alone) return;
  const double mean = static_cast<double>(all.squares / all.weight);
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; parts[part].alone && i < end; ++i) {
      if (line.given(i) < rows && std::isnan(found[i].leave_one_out)) found[i].error2 = mean;
    }
  });
}

RawArray<std::uint32_t> places_of_rows(const SortedSample& line, std::size_t rows,
                                       const ParallelOptions& options) {
  RawArray<std::uint32_t> place(rows);
  pass_over(line.size(), options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (line.given(i) < rows) place[line.given(i)] = static_cast<std::uint32_t>(i);
    }
  });
  return place;
}

// To read from anywhere is faster than to write there.
void put_back(const RawArray<std::uint32_t>& place, std::size_t rows,
              const RawArray<OfObservation>& found, const RawArray<GradientOfObservation>& gradient,
              const Residuals& out, const ParallelOptions& options) {
  const bool errors = out.variance.size > 0, gradients = out.gradient.size > 0;
  pass_over(rows, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const OfObservation& one = found[place[k]];
      out.leave_one_out[k] = one.leave_one_out;
      out.in_sample[k] = one.in_sample;
      out.error2[k] = one.error2;
      if (errors) out.variance[k] = one.variance;
      if (!gradients) continue;
      out.gradient[k] = gradient[place[k]].value;
      out.gradient_variance[k] = gradient[place[k]].variance;
    }
  });
}

void check_room(const Residuals& out, std::size_t n) {
  const auto fits = [n](Span<double> room, bool wanted) { return room.size == (wanted ? n : 0); };
  const bool gradients = out.gradient.size > 0, errors = gradients || out.variance.size > 0;
  if (fits(out.leave_one_out, true) && fits(out.in_sample, true) && fits(out.error2, true) &&
      fits(out.leverage, out.leverage.size > 0) && fits(out.variance, errors) &&
      fits(out.gradient, gradients) && fits(out.gradient_variance, gradients)) {
    return;
  }
  throw error(ErrorKind::internal, "room for residuals of a wrong size");
}

namespace {

double total(const std::vector<FitTotals>& blocks, double FitTotals::*which) {
  std::vector<double> value;
  for (const FitTotals& block : blocks) value.push_back(block.*which);
  return pairwise_sum(value.data(), value.size());
}

}  // namespace

FitTotals totals_of(const std::vector<FitTotals>& blocks) {
  return {total(blocks, &FitTotals::squares), total(blocks, &FitTotals::in_sample),
          total(blocks, &FitTotals::trace), total(blocks, &FitTotals::unsupported)};
}

}  // namespace kestrel
