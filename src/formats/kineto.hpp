#pragma once

#include <optional>
#include <string>

namespace dadsim::formats {

/// What a profile says of a mean step; seconds.
struct ProfiledStep {
  std::optional<double> step = {};
  double computing = 0;             ///< kernels and copies that are no collective, those at the same time once
  double communicating = 0;         ///< kernels of collectives that nothing else goes on beside, where that is known
  std::optional<double> idle = {};  ///< neither a kernel nor a copy
  std::size_t steps = 0;            ///< that are in it
};

/// The steps of a trace of PyTorch's profiler ("traceEvents", `export_chrome_trace`): the ranges ProfilerStep#N of the
/// host, and what the device does of them. Where the host runs ahead of the device, which then works on behind the last
/// range, a step takes what the device takes. None where `text` is no such trace. Throws std::runtime_error, in words,
/// where it has no steps or no kernels, or a time is none.
std::optional<ProfiledStep> profile_of_trace(const std::string& text);

}  // namespace dadsim::formats
