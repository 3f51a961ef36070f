// Integrated kernels as responses of a regression on the line.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_LINE_RESPONSES_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_LINE_RESPONSES_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/mixed/mixed_sample.hpp"
#include "core/regression/local_source.hpp"

namespace kestrel {

/// The different positions in the one column that is given, with the numbers of observations there
/// as weights, and the other columns in this order.
class ResponseLine {
 public:
  /// given: the number of the column. With an infinite h all observations are at one place.
  ResponseLine(const MixedSample& sample, std::size_t given, double h,
               const ParallelOptions& options);

  std::size_t size() const { return row_.size(); }
  /// The row of the sample that is observation i here.
  std::size_t row(std::size_t i) const { return row_[i]; }
  std::size_t places() const { return first_.size() - 1; }
  /// The observations at place p are first(p) .. first(p + 1) - 1.
  std::size_t first(std::size_t p) const { return first_[p]; }
  double count(std::size_t p) const { return static_cast<double>(first_[p + 1] - first_[p]); }
  bool tied() const { return places() < size(); }
  const LocalSource& source() const { return *source_; }
  /// The columns that are not given.
  std::size_t columns() const { return column_.size(); }
  const double* column(std::size_t c) const { return column_[c].data(); }

 private:
  std::vector<std::uint32_t> first_, row_;
  std::unique_ptr<const LocalSource> source_;
  std::vector<RawArray<double>> column_;
};

/// That of a sample, made once.
const ResponseLine& response_line(const MixedSample& sample, std::size_t given, double h,
                                  const ParallelOptions& options);

/// The integrated kernels of all observations at some points of a grid and, with `gradient`, their
/// derivatives by the logarithms of the bandwidths h of the columns that are not given. Functions
/// are numbered kind by kind, first the kernels themselves, and within a kind by point.
class LineResponses {
 public:
  static constexpr std::size_t kPoints = 8;

  /// level: the cells whose weights at the nodes are wanted, or null.
  LineResponses(const ResponseLine& line, const MixedKernel& kernel, const std::vector<double>& h,
                bool gradient, const NodeLevel* level, const simd::Table& table);

  /// Computes those at `count` <= kPoints points, each with one value for each column.
  void take(const double* point, std::size_t count, const ParallelOptions& options);

  std::size_t kinds() const { return kinds_; }
  std::size_t points() const { return points_; }
  std::size_t functions() const { return kinds_ * points_; }
  /// Of a function by observation; its sum by place; and for all functions one after another the
  /// even and odd parts of the weights at the nodes of a cell.
  const double* values(std::size_t f) const { return value_.data() + f * line_.size(); }
  const double* of_places(std::size_t f) const {
    return line_.tied() ? of_place_.data() + f * line_.places() : values(f);
  }
  const double* parts(std::size_t cell) const {
    return parts_.data() + cell * kPoints * kinds_ * kNodes;
  }
  /// The positions of places in their cells.
  const double* t() const { return t_.data(); }

 private:
  void take_positions();
  void take_places(const double* point, std::size_t g, std::size_t begin, std::size_t end);
  void take_cell(std::size_t g, std::size_t cell);

  const ResponseLine& line_;
  const ContinuousKernel below_;
  const std::size_t kinds_;
  const NodeLevel* const level_;
  const simd::Table& table_;
  std::vector<double> scale_;
  std::vector<std::size_t> items_;  // their first cells, or places
  RawArray<double> value_, of_place_, t_, parts_;
  std::size_t points_ = 0;
};

}  // namespace kestrel

#endif
