#pragma once

#include <optional>
#include <string>

namespace dadsim::formats {

/// What a profile says of a mean step; seconds.
struct ProfiledStep {
  std::optional<double> step = {};
  double computing = 0;             ///< kernels that compute, those beside one another once
  double communicating = 0;         ///< kernels of NCCL or RCCL that nothing else goes on beside, where that is known
  std::optional<double> idle = {};  ///< no kernel at all
  std::size_t steps = 0;            ///< that are in it
};

/// The steps of a trace of PyTorch's profiler ("traceEvents", `export_chrome_trace`): the ranges ProfilerStep#N and the
/// kernels within them. None where `text` is no such trace. Throws std::runtime_error, in words, where it is one
/// without steps or without kernels.
std::optional<ProfiledStep> profile_of_trace(const std::string& text);

}  // namespace dadsim::formats
