#pragma once

#include <string>
#include <vector>

#include "formats/config_keys.hpp"
#include "formats/model_config.hpp"

namespace dadsim::formats {

/// Types of model that are one causal stack, in alphabetical order.
std::vector<std::string> decoder_types();

/// Reads the keys of such a type; false where it is none.
bool read_decoder(const std::string& type, const ConfigKeys& keys, ModelConfig& model);

}  // namespace dadsim::formats
