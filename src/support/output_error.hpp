#pragma once

#include <stdexcept>

namespace dadsim {

/// Thrown if a result could not be written. The message has the path and the reason.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dadsim
