#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/parameter.hpp"
#include "support/registry.hpp"

namespace dadsim::spec {

/// Sizes of a workload by name.
using Sizes = std::map<std::string, std::int64_t>;

/// A network too large to learn here that can be timed: its shapes, and where they come from.
struct Workload {
  std::string name;  ///< as in <timed-as workload="…">
  std::string description;
  std::string source;  ///< paper and what the totals were checked against
  std::string sample;  ///< what a sample is: "an image"
  /// Samples of an epoch of the data it is usually trained on; 0 where nobody counts in epochs.
  std::int64_t dataset_size = 0;
  /// Sizes that can be asked for, as attributes of <timed-as>: integers, with the workload's own as defaults.
  std::vector<ParameterSpec> parameters = {};
  /// The layers for a value of every parameter. Throws std::invalid_argument, with words, where they make no network.
  std::function<ModelShape(const Sizes&)> make;

  /// The layers, with the defaults of what is not in `sizes`. Throws std::invalid_argument for a size that it does not
  /// have, and as make() does.
  ModelShape shape(const ParameterValues& sizes = {}) const;
};

/// Sizes that can be asked for, without a default: the same range and words in all workloads.
const std::vector<ParameterSpec>& workload_sizes();

/// Every workload: spec/workloads/workloads.csv.
Registry<Workload>& workload_registry();

}  // namespace dadsim::spec
