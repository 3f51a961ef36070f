#include "core/bootstrap/multinomial.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// log(k!) less Stirling's formula (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2, for the argument
/// k + 1: its asymptotic series (Abramowitz & Stegun 1964, 6.1.41) from 16 on, where four terms
/// have an error below 2e-14, and below that by the recurrence of log(k!).
double stirling_rest(double k) {
  double value = 0, z = k + 1;
  for (; z < 16; z += 1) value += (z + 0.5) * std::log1p(1 / z) - 1;
  const double y = 1 / (z * z);
  return value + (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680) * y) * y) * y) / z;
}

/// By inversion, for p <= 1/2 and few expected successes: P(k + 1) = P(k) (n - k) / (k + 1) p / q.
double draw_few(UniformStream* uniform, double count, double p) {
  const double odds = p / (1 - p);
  const double none = std::exp(count * std::log1p(-p));
  double rest = uniform->next(), chance = none;
  for (double k = 0;; k += 1) {
    if (rest < chance || k >= count) return k;
    rest -= chance;
    chance *= (count - k) / (k + 1) * odds;
    // What is left is rounding.
    if (chance <= 0) return k;
  }
}

/// Hormann (1993), algorithm BTRS, for p <= 1/2 and at least ten expected successes.
double draw_many(UniformStream* uniform, double count, double p) {
  const double odds = p / (1 - p), spread = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double centre = count * p + 0.5, inner = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * spread, mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = uniform->next() - 0.5, v = uniform->next();
    const double edge = 0.5 - std::fabs(u), k = std::floor((2 * a / edge + b) * u + centre);
    if (edge >= 0.07 && v <= inner) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_rest(mode) + stirling_rest(count - mode) - stirling_rest(k) -
                         stirling_rest(count - k);
    if (std::log(v * alpha / (a / (edge * edge) + b)) <= bound) return k;
  }
}

}  // namespace

double draw_binomial(UniformStream* uniform, double count, double p) {
  if (p > 0.5) return count - draw_binomial(uniform, count, 1 - p);
  if (!(p > 0) || count == 0) return 0;
  return count * p < 10 ? draw_few(uniform, count, p) : draw_many(uniform, count, p);
}

Multinomial::Multinomial(Span<const double> weight) : cells_(weight.size), leaves_(1) {
  if (cells_ == 0 || cells_ >= std::size_t{1} << 31) {
    throw error(ErrorKind::memory, "counts are drawn in at most 2^31 cells");
  }
  while (leaves_ < cells_) leaves_ *= 2;
  sum_.assign(2 * leaves_, 0.0);
  std::copy(weight.begin(), weight.end(), sum_.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t k = leaves_ - 1; k > 0; --k) sum_[k] = sum_[2 * k] + sum_[2 * k + 1];
  if (!(sum_[1] > 0)) throw error(ErrorKind::input, "there is no cell with a positive weight");
}

void Multinomial::draw(double size, std::uint64_t key, std::uint32_t replicate, double* out,
                       std::size_t stride) const {
  struct Part {
    std::size_t node;
    double count;
  };
  for (std::size_t i = 0; i < cells_; ++i) out[i * stride] = 0;
  // One waits on each level at most.
  Part waiting[64];
  std::size_t count = 0;
  waiting[count++] = {1, size};
  while (count > 0) {
    const Part part = waiting[--count];
    if (part.count == 0) continue;
    if (part.node >= leaves_) {
      out[(part.node - leaves_) * stride] = part.count;
      continue;
    }
    const std::size_t left = 2 * part.node;
    UniformStream uniform(key, replicate, static_cast<std::uint32_t>(part.node));
    const double taken = draw_binomial(&uniform, part.count, sum_[left] / sum_[part.node]);
    waiting[count++] = {left + 1, part.count - taken};
    waiting[count++] = {left, taken};
  }
}

}  // namespace kestrel
