// Sketches and their plans between R and C++.
#ifndef KESTREL_RCPP_SKETCH_HPP
#define KESTREL_RCPP_SKETCH_HPP

#include <Rcpp.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/sketch_bytes.hpp"
#include "rcpp_fields.hpp"

/// The name of this type is the class of the condition in R (rcpp_util.hpp).
struct kestrel_core_sketch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace kestrel {

inline Span<const unsigned char> span_of(const Rcpp::RawVector& bytes) {
  return {bytes.begin(), static_cast<std::size_t>(bytes.size())};
}

inline bool is_grid(const Rcpp::RawVector& bytes) { return is_grid_sketch(span_of(bytes)); }

/// What `call` returns; words of the core about a sketch become a condition of their own.
template <class Call>
auto refusing_sketches(const Call& call) {
  try {
    return call();
  } catch (const error& problem) {
    if (problem.kind == ErrorKind::input) throw kestrel_core_sketch(problem.what());
    throw;
  }
}

inline LineSketch read_line(const Rcpp::RawVector& bytes) {
  return refusing_sketches([&] { return sketch_of(span_of(bytes)); });
}

inline GridSketch read_grid(const Rcpp::RawVector& bytes) {
  return refusing_sketches([&] { return grid_sketch_of(span_of(bytes)); });
}

template <class Sketch>
Rcpp::RawVector raw_of(const Sketch& sketch) {
  const std::vector<unsigned char> bytes = bytes_of(sketch);
  return Rcpp::RawVector(bytes.begin(), bytes.end());
}

struct AnyPlan {
  std::vector<int> exponent;
  std::vector<std::string> column;
  std::string weight;
  int weight_exponent;
  std::string response;
  int response_exponent;
  double response_origin;
  bool bounded;

  bool is_grid() const { return exponent.size() > 1; }
  SketchPlan line() const {
    return {exponent[0], column[0],         weight,          weight_exponent,
            response,    response_exponent, response_origin, bounded && !weight.empty()};
  }
  GridPlan grid() const { return {exponent, column, weight, weight_exponent}; }
};

inline AnyPlan unpack_plan(const Rcpp::List& list) {
  const Fields fields(list, "a plan of sketches",
                      {"exponent", "column", "weight", "weight_exponent", "response",
                       "response_exponent", "response_origin", "bounded"});
  return {fields.get<std::vector<int>>("exponent"), fields.get<std::vector<std::string>>("column"),
          fields.get<std::string>("weight"),        fields.get<int>("weight_exponent"),
          fields.get<std::string>("response"),      fields.get<int>("response_exponent"),
          fields.get<double>("response_origin"),    fields.get<bool>("bounded")};
}

}  // namespace kestrel

#endif
