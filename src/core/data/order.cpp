#include "core/data/order.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// Digits of a key.
constexpr std::size_t kDigitBits = 11, kDigits = 6, kValuesOfDigit = std::size_t{1} << kDigitBits;

struct Entry {
  std::uint64_t key;
  std::uint32_t place;
};

/// A whole number that sorts as the values do; zeros of both signs have the same one.
std::uint64_t key_of(double value) {
  const double one_zero = value + 0.0;
  std::uint64_t bits;
  std::memcpy(&bits, &one_zero, sizeof bits);
  const std::uint64_t sign = std::uint64_t{1} << 63;
  return bits & sign ? ~bits : bits | sign;
}

std::size_t digit_of(std::uint64_t key, std::size_t digit) {
  return key >> (digit * kDigitBits) & (kValuesOfDigit - 1);
}

/// Indices in the order of their values; those of equal values keep their order. A radix sort, last
/// digit first.
std::vector<Entry> sorted_entries(Span<const double> values,
                                  const std::vector<std::uint32_t>& places,
                                  const ParallelOptions& options) {
  const std::size_t n = places.size();
  std::vector<Entry> entries(n), sorted(n);
  std::vector<std::array<std::size_t, kValuesOfDigit>> count(kDigits);
  serial_for(n, options, [&](std::size_t i) {
    entries[i] = {key_of(values[places[i]]), places[i]};
    for (std::size_t k = 0; k < kDigits; ++k) ++count[k][digit_of(entries[i].key, k)];
  });
  for (std::size_t k = 0; k < kDigits; ++k) {
    if (n == 0 || count[k][digit_of(entries[0].key, k)] == n) continue;
    std::size_t next = 0;
    for (std::size_t& of_digit : count[k]) next += std::exchange(of_digit, next);
    serial_for(n, options, [&](std::size_t i) {
      sorted[count[k][digit_of(entries[i].key, k)]++] = entries[i];
    });
    entries.swap(sorted);
  }
  return entries;
}

/// Sorts the indices at [begin, end) by `then`; equal ones keep their order.
void order_run(Span<const double> then, std::vector<std::uint32_t>* order, std::size_t begin,
               std::size_t end, const ParallelOptions& options) {
  const auto first = order->begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = order->begin() + static_cast<std::ptrdiff_t>(end);
  if (end - begin < kPolledItems) {
    std::stable_sort(first, last,
                     [&](std::uint32_t a, std::uint32_t b) { return then[a] < then[b]; });
    return;
  }
  const std::vector<Entry> entries = sorted_entries(then, {first, last}, options);
  std::transform(entries.begin(), entries.end(), first, [](const Entry& e) { return e.place; });
}

}  // namespace

std::vector<std::uint32_t> order_of(Span<const double> values, Span<const double> then,
                                    const ParallelOptions& options) {
  const std::size_t n = values.size;
  if (n >= std::size_t{1} << 31) throw error(ErrorKind::memory, "there are 2^31 values or more");
  if (then.size != 0 && then.size != n) throw error(ErrorKind::internal, "two keys of two sizes");
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const std::vector<Entry> entries = sorted_entries(values, order, options);
  std::size_t begin = 0;  // of a run of equal values
  serial_for(n, options, [&](std::size_t i) {
    order[i] = entries[i].place;
    if (i + 1 < n && entries[i + 1].key == entries[i].key) return;
    if (then.size != 0 && i > begin) order_run(then, &order, begin, i + 1, options);
    begin = i + 1;
  });
  return order;
}

}  // namespace kestrel
