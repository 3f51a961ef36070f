// R to core: tasks of densities and distribution functions of mixed data.
#ifndef KESTREL_RCPP_MIXED_DENSITY_HPP
#define KESTREL_RCPP_MIXED_DENSITY_HPP

#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/leave_one_out/criterion.hpp"
#include "core/mixed/mixed_density.hpp"
#include "rcpp_mixed.hpp"

namespace kestrel {

struct MixedDensityTask {
  MixedKernel kernel;
  MixedGiven given;
  bool conditional, likelihood;
};

inline MixedDensityTask unpack_density(const Rcpp::List& list) {
  const Fields fields(
      list, "a task of densities",
      {"h", "lambda", "ckertype", "ckerorder", "ukertype", "okertype", "given", "method"});
  MixedDensityTask task{
      unpack_kernel(fields), {}, false, fields.get<std::string>("method") == "cv.ml"};
  for (const int one : fields.get<std::vector<int>>("given")) {
    task.given.push_back(one != 0);
    task.conditional = task.conditional || one != 0;
  }
  if (task.given.size() != task.kernel.h.size() + task.kernel.lambda.size()) {
    throw error(ErrorKind::internal, "a density needs `given` for each column");
  }
  return task;
}

/// What R takes of a criterion and who computed it.
inline Rcpp::List criterion_list(const LeaveOneOut& found) {
  Rcpp::List list = criterion_list(found.criterion);
  list["engine"] = found.engine;
  return list;
}

/// What R takes of densities, or of distribution functions, at points.
inline Rcpp::List density_list(const MixedDensities& found, std::size_t columns) {
  return Rcpp::List::create(Rcpp::Named("density") = to_r(found.density, false),
                            Rcpp::Named("se") = to_r(found.variance, true),
                            Rcpp::Named("grad") = by_point(found.gradient, columns, false),
                            Rcpp::Named("gerr") = by_point(found.gradient_variance, columns, true));
}

}  // namespace kestrel

#endif
