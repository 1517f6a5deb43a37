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

/// A network that is timed but too large to learn here: its layer shapes and their source.
struct Workload {
  std::string name;  ///< name in <timed-as workload="…">
  std::string description;
  std::string source;  ///< paper, and the source of the total numbers
  std::string sample;  ///< a sample, in words: "an image"
  /// samples per epoch of the usual training data; 0: epochs are not customary
  std::int64_t dataset_size = 0;
  /// Sizes that attributes of <timed-as> can set: integers, with the workload's own as defaults.
  std::vector<ParameterSpec> parameters = {};
  /// Returns the layers. *Requires* a value of every parameter. Throws std::invalid_argument, with a message for the
  /// user, if the values give no valid network.
  std::function<ModelShape(const Sizes&)> make;

  /// Returns the layers, with defaults for sizes missing in `sizes`. Throws std::invalid_argument for an unknown size,
  /// and as make() does.
  ModelShape shape(const ParameterValues& sizes = {}) const;
};

/// Returns all sizes that can be set, without defaults. Ranges and descriptions are the same for all workloads.
const std::vector<ParameterSpec>& workload_sizes();

/// Returns all workloads, from spec/workloads/workloads.csv.
Registry<Workload>& workload_registry();

}  // namespace dadsim::spec
