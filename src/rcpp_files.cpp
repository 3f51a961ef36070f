// R to core: writing files completely or not at all.
#include "core/base/files.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

// [[Rcpp::export]]
std::string file_kind_cpp(std::string path) { return file_kind(path); }

// [[Rcpp::export]]
std::string reserve_file_cpp(std::string path, double bytes) { return reserve_file(path, bytes); }

// The checksum of bytes, continued from `state`, which is a checksum or empty. 8 bytes, lowest
// first.
// [[Rcpp::export]]
Rcpp::RawVector checksum_cpp(Rcpp::RawVector bytes, Rcpp::RawVector state) {
  std::uint64_t sum = 0;
  for (int i = 0; i < state.size(); ++i) sum |= static_cast<std::uint64_t>(state[i]) << (8 * i);
  sum = checksum(bytes.begin(), static_cast<std::size_t>(bytes.size()), sum);
  Rcpp::RawVector result(8);
  for (int i = 0; i < 8; ++i) result[i] = static_cast<unsigned char>(sum >> (8 * i));
  return result;
}
