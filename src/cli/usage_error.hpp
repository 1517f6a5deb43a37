#pragma once

#include <stdexcept>

namespace dadsim::cli {

/// Thrown for a wrong command line; the message has the fault and the remedy.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dadsim::cli
