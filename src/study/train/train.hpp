#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/document/document.hpp"

namespace dadsim::study {

/// Request of `dadsim train`. Names are as typed; defaults replace missing values.
struct TrainRequest {
  std::string model;  ///< a workload, or the path of a config.json
  std::int64_t gpus = 1;
  std::string device;
  std::string nic, inside;                         ///< link between nodes; empty: that of the device's usual system
  std::optional<std::int64_t> gpus_per_node = {};  ///< none: that of the usual system
  std::optional<std::int64_t> global_batch = {};   ///< samples of all devices per step; none: the usual number
  std::optional<std::int64_t> sequence = {};       ///< tokens of a sample; none: the model's
  std::string precision = {};                      ///< empty: bf16, else fp16, else fp32, as far as the device has it
  std::optional<double> tokens = {};               ///< tokens to learn from
  std::optional<double> within = {};               ///< seconds allowed; needs `tokens`
  std::optional<double> price = {};                ///< USD per device and hour; needs `tokens`
};

struct TrainAnswer {
  report::Document document;
  std::string scenario;  ///< text of the scenario with the fastest layout
};

/// Finds the fastest layout of a model on a cluster, the time and work of a step, and the time of a budget of tokens.
/// Members of the JSON: docs/layout.md and docs/train.md. Throws InputError for an unknown name, for sizes that do not
/// divide, or if no layout fits (the error then names a sufficient number of devices).
TrainAnswer train(const TrainRequest& request, bool show_progress);

}  // namespace dadsim::study
