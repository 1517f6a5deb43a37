#pragma once

#include <cstdint>
#include <vector>

#include "spec/model_specification.hpp"

namespace dadsim::spec {

/// Parameters of a transformer block.
struct TransformerBlock {
  std::int64_t width = 0;   ///< channels of every position
  std::int64_t heads = 1;   ///< heads of the attention
  std::int64_t hidden = 0;  ///< units between the two dense layers
  bool causal = false;
  double dropout = 0;  ///< rate on a branch's output; 0: none
};

/// Appends x + attention(norm(x)) and x + dense(gelu(dense(norm(x)))). Norms before the branches train without a
/// warm-up (Xiong et al., ICML 2020, arXiv:2002.04745).
void append_block(const TransformerBlock& block, std::vector<LayerSpec>& layers);

}  // namespace dadsim::spec
