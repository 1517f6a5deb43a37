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

/// A network that can be timed but is too large to learn here: its shapes and their source.
struct Workload {
  std::string name;  ///< name in <timed-as workload="…">
  std::string description;
  std::string source;  ///< paper, and the reference for the totals
  std::string sample;  ///< one sample, in words: "an image"
  /// Samples per epoch of its usual training data; 0 if epochs are not customary.
  std::int64_t dataset_size = 0;
  /// Sizes that can be set as attributes of <timed-as>: integers, with the workload's own as defaults.
  std::vector<ParameterSpec> parameters = {};
  /// Returns the layers for a value of every parameter. Throws std::invalid_argument, with a message for the user, if
  /// they make no network.
  std::function<ModelShape(const Sizes&)> make;

  /// Returns the layers, with defaults for sizes missing in `sizes`. Throws std::invalid_argument for an unknown size,
  /// and like make().
  ModelShape shape(const ParameterValues& sizes = {}) const;
};

/// Returns the sizes that can be set, without a default: the same range and words in all workloads.
const std::vector<ParameterSpec>& workload_sizes();

/// Returns all workloads, from spec/workloads/workloads.csv.
Registry<Workload>& workload_registry();

}  // namespace dadsim::spec
