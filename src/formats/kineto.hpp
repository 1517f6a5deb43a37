#pragma once

#include <optional>
#include <string>

namespace dadsim::formats {

/// Mean step in a profile, seconds.
struct ProfiledStep {
  std::optional<double> step = {};
  double computing = 0;             ///< seconds of kernels and copies other than collectives; simultaneous ones count
                                    ///< once
  double communicating = 0;         ///< seconds of collective kernels that overlap with nothing else, if known
  std::optional<double> idle = {};  ///< seconds without any kernel or copy
  std::size_t steps = 0;            ///< number of steps averaged
};

/// Reads the steps of a trace of PyTorch's profiler ("traceEvents", `export_chrome_trace`): the host's ranges
/// ProfilerStep#N, and the device's work for them. If the host runs ahead, and the device continues after the last
/// range, a step has the device's duration. Returns none if `text` is not such a trace. Throws std::runtime_error, with
/// a message for the user, for a trace without steps or kernels, or an invalid time.
std::optional<ProfiledStep> profile_of_trace(const std::string& text);

}  // namespace dadsim::formats
