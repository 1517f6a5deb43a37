#pragma once

namespace dadsim::cli {

/// Exit codes of the process; documented in docs/command-line.md.
enum ExitCode : int {
  kSuccess = 0,
  kInternalError = 1,     ///< a bug of ours
  kUsage = 2,             ///< the command line
  kWrongInput = 3,        ///< scenario, platform or data file
  kOutputFailed = 4,      ///< a result could not be written
  kSimulationFailed = 5,  ///< SimGrid failed, or the system provided no process for the simulation
  kInterrupted = 130,     ///< SIGINT, SIGTERM or SIGHUP
};

}  // namespace dadsim::cli
