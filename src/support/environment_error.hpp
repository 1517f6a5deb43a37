#pragma once

#include <stdexcept>

namespace dadsim {

/// The system denied what any work needs (a process, a descriptor), which says nothing about what was asked: it is
/// neither a wrong input nor a simulation that fails, and nothing may be recorded of it. The same command goes on once
/// there is what was missing.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dadsim
