// One function per preset, each in the file with its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/model_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/preset.hpp"

namespace dadsim::spec {

/// A parameter that is a count: at least 1.
inline ParameterSpec count_parameter(std::string name, std::string default_value, std::string description) {
  return integer_parameter(std::move(name), 1, 65536, std::move(default_value), std::move(description));
}

inline std::int64_t count_of(const ParameterValues& values, const std::string& name) {
  return std::stoll(values.at(name));
}

/// Parameters of a transformer block.
struct TransformerBlock {
  std::int64_t width = 0;   ///< channels of each position
  std::int64_t heads = 1;   ///< heads of the attention
  std::int64_t hidden = 0;  ///< width between the two dense layers
  bool causal = false;
  double dropout = 0;  ///< dropout rate on a branch's output; 0: none
};

/// Appends a pre-norm block: x + attention(norm(x)), then x + dense(gelu(dense(norm(x)))). Pre-norm blocks train
/// without a warm-up (Xiong et al., ICML 2020, arXiv:2002.04745).
void append_block(const TransformerBlock& block, std::vector<LayerSpec>& layers);

Preset lenet_preset();
Preset resnet_8_preset();
Preset gru_classifier_preset();
Preset transformer_classifier_preset();
Preset vit_preset();
Preset language_model_preset();

}  // namespace dadsim::spec
