// R to core: sums of products of kernels.
#include "core/base/error.hpp"
#include "core/mixed/mixed_sums.hpp"
#include "rcpp_mixed.hpp"

using namespace kestrel;

namespace {

MixedForm form_of(const std::string& operation) {
  if (operation == "normal") return MixedForm::density;
  if (operation == "convolution") return MixedForm::convolution;
  if (operation == "derivative") return MixedForm::derivative;
  if (operation == "integral") return MixedForm::distribution;
  throw error(ErrorKind::internal, "no such operator of a kernel");
}

/// As in np a derivative is divided by the bandwidth and an integral multiplied by it, but only in
/// sums.
void take_scale(MixedSumTask* task) {
  const MixedKernel& kernel = task->kernel;
  for (std::size_t c = 0; c < kernel.h.size(); ++c) {
    const ContinuousKernel of(kernel, kernel.form_of(c));
    task->scale *= of.constant;
    task->divide *= std::pow(kernel.h[c], 1 - of.powers);
  }
}

}  // namespace

/// The sums (a row for each column of `terms`, a column for each point) and with `keep` the
/// products of kernels (a row for each sample) at points, or at the data for NULL.
// [[Rcpp::export]]
Rcpp::List mixed_sums_cpp(SEXP sample, Rcpp::List task, SEXP points, Rcpp::List run) {
  const Fields fields(task, "a task of sums of kernels",
                      {"h", "lambda", "ckertype", "ckerorder", "ukertype", "okertype", "operator",
                       "tables", "divide", "power", "leave_one_out", "terms", "keep"});
  MixedSumTask of;
  of.kernel = unpack_kernel(fields);
  for (const std::string& one : fields.get<std::vector<std::string>>("operator")) {
    of.kernel.forms.push_back(form_of(one));
  }
  if (of.kernel.forms.size() != of.kernel.h.size()) {
    throw error(ErrorKind::internal, "sums of kernels need an operator for each column");
  }
  const auto tables = fields.get<Rcpp::List>("tables");
  std::vector<Rcpp::NumericMatrix> held;
  for (R_xlen_t k = 0; k < tables.size(); ++k)
    held.emplace_back(Rcpp::as<Rcpp::NumericMatrix>(tables[k]));
  for (const Rcpp::NumericMatrix& table : held) of.tables.push_back(mixed_matrix(table));
  of.divide = fields.get<double>("divide");
  take_scale(&of);
  of.power = fields.get<int>("power");
  of.leave_one_out = fields.get<bool>("leave_one_out");
  const auto terms = fields.get<Rcpp::NumericMatrix>("terms");
  of.terms = mixed_matrix(terms);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints read(points, data, how.parallel);
  const MixedSample& at = read.all();
  Rcpp::NumericMatrix weights(0, 0);
  const bool keep = fields.get<bool>("keep");
  if (keep)
    weights = Rcpp::NumericMatrix(static_cast<int>(data.size()), static_cast<int>(at.size()));
  const std::vector<double> sums =
      mixed_kernel_sums(data, at, of, keep ? weights.begin() : nullptr, how);
  Rcpp::NumericMatrix found(static_cast<int>(std::max(1, terms.ncol())),
                            static_cast<int>(at.size()), sums.begin());
  return Rcpp::List::create(Rcpp::Named("sums") = found, Rcpp::Named("weights") = weights);
}

/// The kernel of a factor from each level to each, by the positions of levels, in one of its forms:
/// "weights" or an operator. A column for each level of a point.
// [[Rcpp::export]]
Rcpp::NumericMatrix mixed_table_cpp(Rcpp::NumericVector positions, double lambda, std::string type,
                                    bool ordered, std::string form) {
  MixedKernel kernel;
  if (type == "liracine") kernel.factor = FactorKernel::li_racine;
  if (type == "wangvanryzin") kernel.ordered = OrderedKernel::wang_van_ryzin;
  if (type == "racineliyan") kernel.ordered = OrderedKernel::racine_li_yan;
  const MixedForm as = form == "weights" ? MixedForm::weights : form_of(form);
  const int levels = static_cast<int>(positions.size());
  Rcpp::NumericMatrix table(levels, levels);
  for (int to = 0; to < levels; ++to) {
    for (int from = 0; from < levels; ++from) {
      table(from, to) =
          ordered ? ordered_value(kernel, as, positions[from], positions[to], lambda, levels).value
                  : factor_value(kernel, as, from == to, lambda, levels).value;
    }
  }
  return table;
}
