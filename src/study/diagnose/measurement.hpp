#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/kineto.hpp"
#include "study/measured/nccl_log.hpp"

namespace dadsim::study {

/// A collective that was measured by itself.
struct MeasuredCollective {
  std::string test;  ///< as nccl-tests call it: "all_reduce_perf"; empty: all-reduce
  double bytes = 0;  ///< as they count them, over all ranks
  std::optional<double> seconds = {};
  std::optional<double> bus_bandwidth = {};  ///< byte/s, where the time is not known
};

/// One of the figures of a step.
struct MeasuredStep {
  std::int64_t devices = 0;  ///< that take it: the first so many of the scenario's; 0: all of them
  std::optional<double> step_seconds = {};
  std::optional<double> tokens_per_second = {};  ///< of all that take it
  std::optional<double> tokens_per_second_per_device = {};
  std::optional<double> samples_per_second = {};  ///< of all workers
  std::optional<double> utilisation = {};         ///< MFU, of 1
};

/// What was measured: steps, of one or several numbers of devices, or collectives.
struct Measurement {
  std::string source;  ///< "--step", or the name of a log
  std::vector<MeasuredStep> steps = {};
  std::optional<formats::ProfiledStep> profile = {};
  std::vector<MeasuredCollective> collectives = {};
};

}  // namespace dadsim::study
