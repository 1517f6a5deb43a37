#pragma once

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// The network with its attention computed block by block (Dao et al., FlashAttention, NeurIPS 2022, arXiv:2205.14135):
/// - scores are never written: what is read are queries, keys and values, what is written is the mix of the values;
/// - the backward pass computes them again: five products instead of four (algorithm 4);
/// - what is kept for it beside queries, keys, values and the mix is one fp32 number per row of scores (section 3.1);
///   masks of dropout are drawn again from the state of the generator;
/// - causal attention does half of its products. Blocks above the diagonal are skipped, and those on it are taken for
///   half: exact for sequences much longer than a block of 64 to 128 positions. With a window, those are done that
///   LayerShape::keys_seen says.
/// Layers of attention that do not know their scores stay as they are.
ModelShape with_flash_attention(ModelShape model, FlashLibrary library = FlashLibrary::any);

/// The network with no scores kept for the backward pass, which computes attention again (Korthikanti et al.,
/// arXiv:2205.05198, section 5: selective recomputation).
ModelShape with_selective_recomputation(ModelShape model);

}  // namespace dadsim::spec
