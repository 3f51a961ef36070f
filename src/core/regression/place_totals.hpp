// Sums over the leave-one-out fits of tied observations, place by place.
#ifndef KESTREL_CORE_REGRESSION_PLACE_TOTALS_HPP
#define KESTREL_CORE_REGRESSION_PLACE_TOTALS_HPP

#include "core/regression/gaussian_call.hpp"
#include "core/regression/local_fit.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

/// Adds the leave-one-out fits of all observations at place p, which are two or more, to `totals`.
/// Their weights are 1, so one fit serves all: with m the fit to the others if the rest of the
/// place has its mean response, relative to that mean, and l the weight of a tied observation in
/// it, an observation e above the mean has the residual (1 + l) e - m, since the rest is then e /
/// (count - 1) below it. Summed over the place, the products of e and m are zero. O(places within
/// reach).
void add_place(const GaussianCall& call, const LocalFitter& fitter, std::size_t p,
               FitTotals& totals);

/// Whether the samples [begin, end), of whole places, are cheaper place by place.
bool places_pay(const GaussianCall& call, std::size_t begin, std::size_t end);

}  // namespace kestrel

#endif
