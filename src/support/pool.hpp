#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dadsim {

/// Objects that are costly to make, each used by one thread at a time.
template <class T>
class Pool {
 public:
  /// Returns the object to the pool when this handle is destroyed.
  using Borrowed = std::unique_ptr<T, std::function<void(T*)>>;

  /// Borrows a free object, or makes a new one. The pool must outlive the result.
  Borrowed borrow(const std::function<std::unique_ptr<T>()>& make) {
    std::unique_ptr<T> taken;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        taken = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!taken) taken = make();
    return Borrowed(taken.release(), [this](T* used) {
      const std::lock_guard lock(mutex_);
      free_.emplace_back(used);
    });
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace dadsim
