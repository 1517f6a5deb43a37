#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/model_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/sample_shape.hpp"
#include "support/registry.hpp"

namespace dadsim::spec {

/// A well-known network with parameters, which expands to layers.
struct Preset {
  std::string name;         ///< name in <model preset="…">
  std::string description;  ///< description in one sentence
  std::string source;       ///< paper that describes the network
  std::vector<ParameterSpec> parameters;
  /// Returns the layers for samples of that shape. The last layer has `classes` logits per labelled position.
  /// *Requires* every parameter in `values`, checked. Throws ModelMistake if parameters do not fit each other or the
  /// samples.
  ModelSpec (*make)(const ParameterValues& values, const SampleShape& sample, std::int64_t classes) = nullptr;
};

/// Returns all presets. Each family has a file in spec/presets/ and a line in the registry.
Registry<Preset>& preset_registry();

}  // namespace dadsim::spec
