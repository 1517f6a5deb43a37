#pragma once

#include <stdexcept>

namespace dadsim::cli {

/// The command line is wrong. The message says what and what would be right.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dadsim::cli
