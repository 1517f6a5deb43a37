#pragma once

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Returns the network with its attention computed block by block (Dao et al., FlashAttention, NeurIPS 2022,
/// arXiv:2205.14135): - scores are never written: queries, keys and values are read, the mix of the values is written;
/// - the backward pass recomputes scores: five products instead of four (algorithm 4); - the backward pass needs,
/// besides queries, keys, values and the mix, one fp32 number per row of scores (section 3.1);
///   dropout masks are drawn again from the generator's state;
/// - causal attention does half of its products: blocks above the diagonal are skipped, those on it count as half,
/// which
///   is exact for sequences much longer than a block of 64 to 128 positions. With a window, LayerShape::keys_seen gives
///   the products.
/// Attention layers without known scores stay unchanged.
ModelShape with_flash_attention(ModelShape model, FlashLibrary library = FlashLibrary::any);

/// Returns the network without scores kept for the backward pass, which recomputes attention (Korthikanti et al.,
/// arXiv:2205.05198, section 5: selective recomputation).
ModelShape with_selective_recomputation(ModelShape model);

}  // namespace dadsim::spec
