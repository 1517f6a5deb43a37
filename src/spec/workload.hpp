#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// A network too large to learn here that can be timed: its shapes, and where they come from.
struct Workload {
  std::string name;  ///< as in <timed-as workload="…">
  std::string description;
  std::string source;  ///< paper and what the totals were checked against
  std::string sample;  ///< what a sample is: "an image"
  /// Samples of an epoch of the data it is usually trained on; 0 where nobody counts in epochs.
  std::int64_t dataset_size = 0;
  std::function<ModelShape()> shape;
};

/// Every workload. One file per family under plan/workloads/ and one line in the registry each.
const std::vector<Workload>& workload_registry();

/// The workload of that name, or nullptr.
const Workload* find_workload(const std::string& name);

}  // namespace dadsim::spec
