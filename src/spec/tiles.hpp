#pragma once

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"

namespace dadsim::spec {

/// Whether softmax of the layer's scores of classes is kept in fp32 (with_softmax()).
bool keeps_softmax(const LayerShape& layer);
/// Whether the layer is a dense one of a feed-forward network whose rows go through it part after part, and whose
/// forward pass the backward pass does again for each part.
bool is_tiled(const LayerShape& layer);

/// Rows of a part where a loss is made in parts and nobody says in how many: torchtitan's, pytorch/torchtitan#4514.
/// TRL takes 256, SkyRL 1,024, prime-rl 8,192.
inline constexpr double kRowsOfPart = 2048;

/// Makes the loss, and the dense layers of feed-forward networks in blocks (experts are none), in as many parts of a
/// micro-batch of `samples` as `how` says, one after the other:
/// - Loss: scores of classes and their gradients are there for one part at a time; each part is a product of its own
///   (torchtitan ChunkedLossWrapper; Liger, arXiv:2410.10989, section 3.2). `loss_parts` = 0: in parts of kRowsOfPart
///   rows where a device would have more than 2³¹ scores at once, which kernels with 32-bit indices cannot count, else
///   at once.
/// - Feed-forward: what lies inside is kept for one part at a time (tiled MLP: Bekman et al., arXiv:2506.13996).
/// `model`: sequences are divided already, layers are not. Throws std::invalid_argument, in words, where there is
/// nothing to divide.
ModelShape with_tiles(ModelShape model, const ParallelismSpec& how, double samples);

/// The same with parts of kRowsOfPart rows each: the least that is there at a time.
ModelShape with_smallest_tiles(ModelShape model, double samples);

}  // namespace dadsim::spec
