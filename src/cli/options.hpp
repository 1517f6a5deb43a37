#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dadsim {

struct Options {
  enum class Command { run, check, print_scenario, algorithms, devices, workloads, help, version };
  Command command = Command::run;
  std::string scenario;
  std::vector<std::string> overrides;  ///< "path=value"; --seed N is "seed=N"
  std::string json, csv;               ///< paths; empty if not wanted; "-" is standard output
  std::size_t threads = 0;             ///< 0: as many as the machine has
  bool quiet = false;
};

/// The command line is wrong. The message says what and what would be right.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string usage();

}  // namespace dadsim
