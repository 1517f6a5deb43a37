#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/document/document.hpp"

namespace dadsim::study {

/// Request of `dadsim train`. Names are as typed; missing values are looked up.
struct TrainRequest {
  std::string model;  ///< a workload, or the path of a config.json
  std::int64_t gpus = 1;
  std::string device;
  std::string nic, inside;                         ///< empty: links of the device's usual system
  std::optional<std::int64_t> gpus_per_node = {};  ///< none: of the usual system
  std::optional<std::int64_t> global_batch = {};   ///< samples of all devices per step; none: the usual number
  std::optional<std::int64_t> sequence = {};       ///< tokens of a sample; none: of the model
  std::string precision = {};                      ///< empty: the narrowest 16-bit precision of the device
  std::optional<double> tokens = {};               ///< tokens to learn from
  std::optional<double> within = {};               ///< seconds allowed; needs `tokens`
  std::optional<double> price = {};                ///< USD of a device and hour; needs `tokens`
};

struct TrainAnswer {
  report::Document document;
  std::string scenario;  ///< text of the scenario with the quickest layout
};

/// Finds the quickest layout of a model on a cluster, the time and work of a step, and the time of a budget of tokens.
/// docs/layout.md and docs/train.md document the members of the JSON. Throws InputError for an unknown name, for sizes
/// that do not divide, or if no layout fits (the error then names a sufficient number of devices).
TrainAnswer train(const TrainRequest& request, bool show_progress);

}  // namespace dadsim::study
