#pragma once

namespace dadsim::cli {

/// Exit codes of the process; documented in docs/command-line.md.
enum ExitCode : int {
  kSuccess = 0,
  kInternalError = 1,     ///< bug in dadsim, or out of memory
  kUsage = 2,             ///< error in the command line
  kWrongInput = 3,        ///< error in a scenario, platform or data file
  kOutputFailed = 4,      ///< a result could not be written
  kSimulationFailed = 5,  ///< the simulation failed, or the system denied a process, a thread or a file descriptor
  kInterrupted = 130,     ///< interrupted by SIGINT, SIGTERM or SIGHUP
};

}  // namespace dadsim::cli
