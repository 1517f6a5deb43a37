#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/model_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/sample_shape.hpp"
#include "support/registry.hpp"

namespace dadsim::spec {

/// A well-known network in its sizes: expands into layers.
struct Preset {
  std::string name;         ///< as in <model preset="…">
  std::string description;  ///< one sentence
  std::string source;       ///< paper
  std::vector<ParameterSpec> parameters;
  /// The layers for samples of that shape, the last one giving `classes` logits per labelled position. Values hold
  /// every parameter, checked. Throws ModelMistake where they do not fit each other or the samples.
  ModelSpec (*make)(const ParameterValues& values, const SampleShape& sample, std::int64_t classes) = nullptr;
};

/// Every preset. One file per family under spec/presets/ and one line in the registry each.
Registry<Preset>& preset_registry();

/// The values of all parameters that are not given, as text.
ParameterValues default_parameters(const Preset& preset);

}  // namespace dadsim::spec
