// Sums over pairs on a real device against the CPU's direct engine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "core/direct/lscv.hpp"
#include "core/direct/pairs.hpp"
#include "gpu-check.hpp"
#include "gpu/pairs.hpp"

namespace kestrel {

namespace {

using Numbers = std::vector<double>;

struct Sums {
  std::string what;
  std::function<Numbers()> cpu, gpu;
  Numbers beside = {};  // a number that each is added to, if any: errors may be relative to the sum
};

Numbers numbers_of(const LscvPairSums& sums) {
  Numbers all = sums.convolution.moments;
  all.insert(all.end(), sums.kernel.moments.begin(), sums.kernel.moments.end());
  all.push_back(sums.convolution.sum);
  all.push_back(sums.kernel.sum);
  return all;
}

/// The error of each number relative to itself or to what it is added to; for moments relative to
/// the largest of them.
double error_of(const Numbers& actual, const Numbers& expected, const Numbers& beside,
                bool to_largest) {
  double largest = 0.0, error = 0.0;
  for (double value : expected) largest = std::fmax(largest, std::fabs(value));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double unit = to_largest ? largest : std::fabs(expected[i]);
    if (!beside.empty()) unit = std::fmax(unit, beside[i]);
    const double here = std::fabs(actual[i] - expected[i]);
    const double relative = here == 0.0 ? 0.0 : here / unit;
    error = relative <= error ? error : relative;  // NaN is kept
  }
  return error;
}

int check_sums(const char* name, const Case& c, const Sums& sums, bool to_largest,
               double allowed = 1e-12) {
  const Numbers expected = sums.cpu(), actual = sums.gpu(), again = sums.gpu();
  const bool same = std::memcmp(actual.data(), again.data(), 8 * actual.size()) == 0;
  const double error = error_of(actual, expected, sums.beside, to_largest);
  const bool good = error <= allowed && same;
  std::printf("%s pairs %s d=%zu n=%zu %s: error %.2e of %.4g%s\n", good ? "ok  " : "BAD ", name,
              c.d, c.n, sums.what.c_str(), error, expected.back(),
              same ? "" : ", other bits the second time");
  return good ? 0 : 1;
}

/// Half the sum over the pairs i = j, to which the others are added: errors in single precision are
/// relative to this, too.
double diagonal(const Case& c) {
  double sum = 0.0;
  for (const double weight : c.w) sum += 0.5 * weight * weight;
  return sum;
}

int check_functionals(const char* name, const Case& c) {
  const MatrixView x = matrix(c.x, c.n, c.d);
  const Span<const double> w{c.w.data(), c.n};
  const RunOptions how = cpu();
  int wrong = 0;
  const double g = c.root[0];
  for (int order = 0; order <= 10; order += 2) {
    // Terms alternate in sign. So the error is relative to the sum with the constant of the
    // polynomial alone, which is at most that of the absolute values of all its monomials.
    const double constant = std::fabs(laplacian_polynomial(c.d, order)[0]);
    const double size = constant * std::pow(g, -order);
    for (const bool single : {false, true}) {
      const double unit = size * (direct_pair_laplacian(x, w, g, 0, how) +
                                  (single ? laplacian_scale(c.d, g, 0).times(diagonal(c)) : 0.0));
      wrong += check_sums(name, c,
                          {"order " + std::to_string(order) + (single ? " in single" : ""),
                           [&] {
                             return Numbers{direct_pair_laplacian(x, w, g, order, how), unit};
                           },
                           [&] {
                             return Numbers{gpu_pair_laplacian(x, w, g, order, single, how), unit};
                           }},
                          true, single ? 1e-5 : 1e-12);
    }
  }
  return wrong;
}

/// Sums of monomials, as many as take the CPU little time.
int check_monomials(const char* name, const Case& c) {
  const MatrixView x = matrix(c.x, c.n, c.d);
  const Span<const double> w{c.w.data(), c.n};
  const RunOptions how = cpu();
  const double g = c.root[0];
  int wrong = 0;
  for (int order = 0; order <= 8; order += 2) {
    const double terms = static_cast<double>(even_multi_indices(c.d, std::min(order, 4)).size());
    if (c.d > 17 || terms * static_cast<double>(c.n * c.n) > 2e9 || (order > 4 && c.d > 6)) break;
    wrong += check_sums(name, c,
                        {"monomials to order " + std::to_string(order),
                         [&] { return direct_pair_moments(x, w, g, order, how); },
                         [&] { return gpu_pair_moments(x, w, g, order, how); }},
                        true);
  }
  return wrong;
}

int check_case(const char* name, const Case& c, const Numbers& h) {
  const MatrixView x = matrix(c.x, c.n, c.d);
  const Span<const double> w{c.w.data(), c.n}, root{c.root.data(), c.root.size()};
  const Span<const double> bandwidths{h.data(), h.size()};
  const RunOptions how = cpu();
  int wrong = 0;
  for (const bool moments : {false, true}) {
    wrong += check_sums(name, c,
                        {moments ? "LSCV, moments" : "LSCV",
                         [&] { return numbers_of(direct_lscv(x, w, root, moments, how)); },
                         [&] { return numbers_of(gpu_lscv(x, w, root, moments, how)); }},
                        moments);
  }
  const auto both = [](const PairCurve& curve) {
    Numbers all = curve.convolution;
    all.insert(all.end(), curve.kernel.begin(), curve.kernel.end());
    return all;
  };
  const Numbers at_zero =
      both(CurveFactors(c.d, root, bandwidths).curve(Numbers(2 * h.size(), diagonal(c))));
  for (const bool single : {false, true}) {
    const char* const in = single ? " bandwidths in single" : " bandwidths";
    wrong += check_sums(name, c,
                        {std::to_string(h.size()) + in,
                         [&] { return both(direct_lscv_curve(x, w, root, bandwidths, how)); },
                         [&] { return both(gpu_lscv_curve(x, w, root, bandwidths, single, how)); },
                         single ? at_zero : Numbers{}},
                        false, single ? 1e-5 : 1e-12);
  }
  return wrong + check_functionals(name, c) + check_monomials(name, c);
}

Numbers grid(double from, double to, std::size_t count) {
  Numbers h;
  for (std::size_t s = 0; s < count; ++s) {
    const double at = count == 1 ? 0.0 : static_cast<double>(s) / static_cast<double>(count - 1);
    h.push_back(from * std::pow(to / from, at));
  }
  return h;
}

/// The minimum and the maximum of the seconds of some calls, after a first one.
void time_call(const char* what, int calls, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  double min = 1e300, max = 0.0;
  call();
  for (int repetition = 0; repetition < calls; ++repetition) {
    const auto begin = Clock::now();
    call();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    min = std::min(min, seconds);
    max = std::max(max, seconds);
  }
  std::printf("pairs %s: %.3f to %.3f ms\n", what, 1e3 * min, 1e3 * max);
  std::fflush(stdout);
}

}  // namespace

int check_pairs_tiny() {
  int wrong = 0;
  for (std::size_t d : {1, 2, 5, 17}) {
    // Several blocks of pairs; fewer for the costly ones, as racecheck takes minutes.
    const std::size_t n = d < 5 ? 300 : 70;
    wrong += check_case("tiny      ", make_case(n, 1, d, 2.0, false, d > 1, 0.0), grid(0.5, 2, 5));
  }
  return wrong;
}

int check_pairs() {
  int wrong = 0;
  for (std::size_t d : {1, 2, 3, 4, 5, 6, 8, 16, 17, 33, 62}) {
    const double wide = 2.0 * std::sqrt(static_cast<double>(d));
    wrong +=
        check_case("plain     ", make_case(3000, 1, d, wide, false, false, 0.0), grid(0.25, 4, 20));
    wrong +=
        check_case("correlated", make_case(1500, 1, d, wide, false, d > 1, 0.0), grid(0.5, 2, 3));
  }
  for (std::size_t d : {1, 2, 6}) {
    wrong +=
        check_case("whole     ", make_case(2000, 1, d, 1.0, true, d > 1, 0.0), grid(0.3, 3, 1));
    wrong +=
        check_case("offset    ", make_case(2000, 1, d, 1.0, false, d > 1, 1e6), grid(0.3, 3, 33));
    wrong +=
        check_case("long      ", make_case(20000, 1, d, 0.5, false, d > 1, 0.0), grid(0.3, 3, 17));
  }
  wrong += check_case("wide      ", make_case(5000, 1, 1, 1e-4, false, false, 0.0), grid(1, 9, 4));
  wrong +=
      check_case("many sizes", make_case(3000, 1, 1, 1e-4, false, false, 0.0), grid(1, 1e5, 20));
  wrong += check_case("one       ", make_case(1, 1, 3, 1.0, false, false, 0.0), grid(1, 2, 2));
  wrong += check_case("two       ", make_case(2, 1, 1, 1.0, false, false, 0.0), grid(1, 2, 2));
  wrong += check_case("many      ", make_case(70000, 1, 1, 0.3, false, false, 0.0), grid(1, 9, 2));
  return wrong;
}

void time_pairs() {
  const RunOptions how = cpu();
  {
    const Case c = make_case(32768, 1, 1, 0.5, false, false, 0.0);
    const MatrixView x = matrix(c.x, c.n, 1);
    const Span<const double> w{c.w.data(), c.n};
    time_call("PLUGIN, orders 6 and 4, n = 32768", 10, [&] {
      gpu_pair_laplacian(x, w, 0.6, 6, false, how);
      gpu_pair_laplacian(x, w, 0.5, 4, false, how);
    });
    time_call("order 4 alone, n = 32768", 10,
              [&] { gpu_pair_laplacian(x, w, 0.5, 4, false, how); });
  }
  for (std::size_t d : {2, 6, 16}) {
    const Case c = make_case(16384, 1, d, 1.5, false, true, 0.0);
    const MatrixView x = matrix(c.x, c.n, d);
    const Span<const double> w{c.w.data(), c.n}, root{c.root.data(), c.root.size()};
    const std::string of = ", n = 16384, d = " + std::to_string(d);
    time_call(("LSCV_H" + of).c_str(), 10, [&] { gpu_lscv(x, w, root, false, how); });
    time_call(("LSCV_H with gradient" + of).c_str(), 10, [&] { gpu_lscv(x, w, root, true, how); });
  }
  for (const auto& [d, order] :
       {std::pair<std::size_t, int>{2, 4}, {2, 6}, {3, 6}, {6, 4}, {6, 6}, {10, 4}, {16, 4}}) {
    const Case c = make_case(16384, 1, d, 1.5, false, false, 0.0);
    const MatrixView x = matrix(c.x, c.n, d);
    const Span<const double> w{c.w.data(), c.n};
    const std::string what =
        "monomials to order " + std::to_string(order) + ", n = 16384, d = " + std::to_string(d);
    time_call(what.c_str(), 3, [&] { gpu_pair_moments(x, w, 1.5, order, how); });
  }
  for (std::size_t d : {1, 6, 16}) {
    const Case c = make_case(300000, 1, d, 1.0, false, true, 0.0);
    const MatrixView x = matrix(c.x, c.n, d);
    const Span<const double> w{c.w.data(), c.n}, root{c.root.data(), c.root.size()};
    for (std::size_t count : {16, 64}) {
      const Numbers h = grid(0.25, 4, count);
      const std::string what = "LSCV_h, n = 300000, d = " + std::to_string(d) + ", " +
                               std::to_string(count) + " bandwidths";
      time_call(what.c_str(), 1, [&] {
        gpu_lscv_curve(x, w, root, {h.data(), h.size()}, false, how);
      });
    }
  }
}

}  // namespace kestrel
