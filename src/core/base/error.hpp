// The one exception type that the core throws on purpose.
#ifndef KESTREL_CORE_BASE_ERROR_HPP
#define KESTREL_CORE_BASE_ERROR_HPP

#include <stdexcept>
#include <string>

namespace kestrel {

/// Whose fault it is; the glue turns each kind into a condition class of R.
enum class ErrorKind {
  input,    ///< the caller asked for something that has no answer
  memory,   ///< the answer does not fit
  unfit,    ///< the engine that was asked for does not take the grid
  internal  ///< a promise inside kestrel was broken: a bug
};

/// Users see one of these only if R's own checks let something through, so the text says what was
/// wrong and what came, in the names of the caller's arguments.
struct error : std::runtime_error {
  error(ErrorKind kind_, const std::string& message) : std::runtime_error(message), kind(kind_) {}

  ErrorKind kind;
};

}  // namespace kestrel

#endif
