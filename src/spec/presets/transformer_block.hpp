#pragma once

#include <cstdint>
#include <vector>

#include "spec/model_specification.hpp"

namespace dadsim::spec {

/// What the blocks of a transformer differ in.
struct TransformerBlock {
  std::int64_t width = 0;   ///< channels of every position
  std::int64_t heads = 1;   ///< of the attention
  std::int64_t hidden = 0;  ///< units between the two dense layers
  bool causal = false;
  double dropout = 0;  ///< of what a branch adds; 0: none
};

/// Appends x + attention(norm(x)) and x + dense(gelu(dense(norm(x)))): norms before the branches train without a
/// warm-up (Xiong et al., ICML 2020, arXiv:2002.04745).
void append_block(const TransformerBlock& block, std::vector<LayerSpec>& layers);

}  // namespace dadsim::spec
