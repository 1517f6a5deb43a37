#pragma once

#include <stdexcept>

namespace dadsim {

/// Thrown if the system denies something that any work needs (a process, a descriptor): neither a wrong input nor a
/// failing simulation, so that nothing may be recorded. The same command continues once the missing resource is
/// available.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dadsim
