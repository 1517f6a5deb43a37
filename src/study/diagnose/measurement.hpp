#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/diagnose/kineto.hpp"
#include "study/measured/nccl_log.hpp"

namespace dadsim::study {

/// A collective that was measured by itself.
struct MeasuredCollective {
  std::string test;  ///< as nccl-tests call it: "all_reduce_perf"; empty: all-reduce
  double bytes = 0;  ///< as they count them, over all ranks
  std::optional<double> seconds = {};
  std::optional<double> bus_bandwidth = {};  ///< byte/s, where the time is not known
};

/// What was measured: one of a step's figures, or collectives.
struct Measurement {
  std::string source;  ///< "--step", or the name of a log
  std::optional<double> step_seconds = {};
  std::optional<double> tokens_per_second = {};  ///< of all devices
  std::optional<double> tokens_per_second_per_device = {};
  std::optional<double> samples_per_second = {};  ///< of all workers
  std::optional<double> utilisation = {};         ///< MFU, of 1
  std::optional<report::ProfiledStep> profile = {};
  std::vector<MeasuredCollective> collectives = {};
};

}  // namespace dadsim::study
