#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"
#include "support/registry.hpp"

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

/// Every workload. One file per family under spec/workloads/ and one line in the registry each.
Registry<Workload>& workload_registry();

}  // namespace dadsim::spec
