// What has been made of some data, for the next step that needs it.
#ifndef KESTREL_CORE_DATA_PREPARED_HPP
#define KESTREL_CORE_DATA_PREPARED_HPP

#include <map>
#include <memory>
#include <typeindex>

namespace kestrel {

/// Objects of different types, at most one of each. Not for several threads at once.
class Prepared {
 public:
  /// The object of type T that has been made, or else a new one: make() returns a
  /// std::unique_ptr<T>. If make() throws, nothing is kept.
  template <class T, class Make>
  T& get(const Make& make) {
    std::shared_ptr<void>& kept = kept_[std::type_index(typeid(T))];
    if (kept == nullptr) kept = std::shared_ptr<T>(make());
    return *static_cast<T*>(kept.get());
  }

  /// That object if there is one, else null.
  template <class T>
  T* found() const {
    const auto kept = kept_.find(std::type_index(typeid(T)));
    return kept == kept_.end() ? nullptr : static_cast<T*>(kept->second.get());
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> kept_;
};

}  // namespace kestrel

#endif
