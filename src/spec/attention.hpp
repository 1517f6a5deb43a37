#pragma once

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Returns the network with its attention computed block by block (Dao et al., FlashAttention, NeurIPS 2022,
/// arXiv:2205.14135):
/// - scores are never written: queries, keys and values are read, the mix of the values is written;
/// - the backward pass recomputes scores: five products instead of four (algorithm 4);
/// - kept for it are queries, keys, values, the mix, and one fp32 number per row of scores (section 3.1);
///   dropout masks are drawn again from the generator's state;
/// - causal attention does half of its products: blocks above the diagonal are skipped, those on it count as half.
///   This is exact for sequences much longer than a block of 64 to 128 positions. With a window, the products are those
///   of LayerShape::keys_seen.
/// Attention layers without known scores stay unchanged.
ModelShape with_flash_attention(ModelShape model, FlashLibrary library = FlashLibrary::any);

}  // namespace dadsim::spec
