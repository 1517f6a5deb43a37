#pragma once

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"

namespace dadsim::spec {

/// Returns whether the layer keeps softmax of class scores in fp32 (with_softmax()).
bool keeps_softmax(const LayerShape& layer);
/// Returns whether the layer is a first dense layer of a feed-forward network that processes rows in parts. The
/// backward pass repeats the forward pass of each part.
bool is_tiled(const LayerShape& layer);

/// Default rows per part of a loss in parts: that of torchtitan (pytorch/torchtitan#4514). TRL uses 256, SkyRL 1,024,
/// prime-rl 8,192.
inline constexpr double kRowsOfPart = 2048;

/// Returns the network with its loss, and the dense layers of feed-forward networks in blocks (not experts), divided
/// into parts of a micro-batch of `samples`. `how` gives the numbers of parts, which follow one another:
/// - Loss: class scores and their gradients exist for one part at a time; each part is a product of its own
///   (torchtitan ChunkedLossWrapper; Liger, arXiv:2410.10989, section 3.2). `loss_parts` = 0: in parts of kRowsOfPart
///   rows if a device would have more than 2³¹ scores at once, which kernels with 32-bit indices cannot count, else
///   at once.
/// - Feed-forward: inner values are kept for one part at a time (tiled MLP: Bekman et al., arXiv:2506.13996).
/// `model`: sequences are divided already, layers are not. Throws std::invalid_argument, with a message for the user,
/// if there is nothing to divide.
ModelShape with_tiles(ModelShape model, const ParallelismSpec& how, double samples);

/// Returns the network divided in the same way, into parts of kRowsOfPart rows each: the least memory at a time.
ModelShape with_smallest_tiles(ModelShape model, double samples);

}  // namespace dadsim::spec
