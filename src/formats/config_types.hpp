#pragma once

#include <span>

#include "formats/config_keys.hpp"
#include "formats/model_config.hpp"

namespace dadsim::formats {

/// A type of model, and how its keys are read.
struct ConfigType {
  const char* name;
  void (*read)(const ConfigKeys& keys, ModelConfig& model);
};

/// Those that are one causal stack.
std::span<const ConfigType> decoder_configs();

}  // namespace dadsim::formats
