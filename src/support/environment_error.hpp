#pragma once

#include <stdexcept>

namespace dadsim {

/// Thrown if the system denies a resource that any work needs (a process, a descriptor). This is neither wrong input
/// nor a failing simulation, so no result may be recorded. The same command can continue once the resource is
/// available.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dadsim
