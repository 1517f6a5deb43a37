#pragma once

#include <cstddef>
#include <span>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Returns whether Recomputation::operations keeps the output of a block's layer. It keeps attention, and every other
/// product from the first on, but no experts, whose products are one grouped kernel.
bool is_kept_by_operations(std::span<const LayerShape> block, std::size_t position);

/// Returns the parts of a block that the layers of the network have.
BlockParts parts_of_blocks(const ModelShape& model);

/// Returns the network without the activations that the backward pass recomputes of these parts of blocks. For
/// attention these are scores (Korthikanti et al., arXiv:2205.05198, section 5), for networks and experts the values
/// inside, for other parts their outputs (Megatron-LM, --recompute-modules).
ModelShape with_selective_recomputation(ModelShape model, BlockParts parts);

/// Returns whether the backward pass recomputes a layer of the network.
bool is_computed_again(const ModelShape& model, std::size_t position, const ParallelismSpec& how);
/// Returns the numbers that the backward pass recomputes of a layer that is not computed again: outputs of an expert's
/// activation function.
double activated_again(const LayerShape& layer, const ParallelismSpec& how);
/// Returns whether the backward pass recomputes at least one layer, and each part that `how` names.
bool computes_any_again(const ModelShape& model, const ParallelismSpec& how);

/// Returns the numbers per sample at the input of a block that starts with this layer. A layer without a matrix, such
/// as a norm, has as many outputs as inputs.
double inputs_of_block(const LayerShape& first);

/// Bytes that layers keep of one sample for the backward pass, on one of `tensor` devices, whose layers are divided
/// already (spec/device_part.hpp).
class KeptActivations {
 public:
  /// With operands cast to 8 or 4 bit, inputs that only dense products read (outputs of norms and activations) are kept
  /// as their casts (NVIDIA, Transformer Engine, which keeps the cast of a product's input).
  /// `shortcut`: bytes per number that blocks hand on; 0: those of the precision.
  KeptActivations(Precision precision, const ParallelismSpec& parallelism, double shortcut = 0)
      : element_(bytes_per_element(precision)),
        shortcut_(shortcut > 0 ? shortcut : element_),
        operand_(casts_operands(precision) ? operand_bytes(precision) : element_),
        recomputation_(parallelism.recomputation),
        parts_(parallelism.recomputed_parts),
        along_sequence_(parallelism.sequence_parallel ? parallelism.tensor : 1) {}

  double of(const LayerShape& layer) const;
  /// Returns the bytes kept by layers that run in parts (spec/tiles.hpp), for the current part alone.
  double of_tiles(std::span<const LayerShape> layers) const;
  double of_all(std::span<const LayerShape> layers) const;
  /// Returns the bytes kept by a repeated block between its forward and backward pass: recomputed layers do not count,
  /// and of a fully recomputed block only its inputs do.
  double of_block(std::span<const LayerShape> layers) const;
  /// Returns the bytes of activations' gradients that exist at once in the backward pass of a block. In its
  /// feed-forward network these are the gradients of inner values, of the output, and at the shortcut. 0 without such a
  /// network.
  double gradients_of_block(std::span<const LayerShape> layers) const;

 private:
  static double read_by_products(const LayerShape& layer);
  double of_all_rows(const LayerShape& layer) const;
  double outputs_of(const LayerShape& layer) const;
  double inputs_of_block(std::span<const LayerShape> layers) const;
  /// Returns the number of devices that divide the layer's output along the sequence.
  double divided(const LayerShape& layer) const;

  double element_;   ///< bytes per number
  double shortcut_;  ///< bytes per number handed on between blocks
  double operand_;   ///< bytes per number read by products alone
  Recomputation recomputation_;
  BlockParts parts_;  ///< parts that are recomputed, with Recomputation::selective
  double along_sequence_;
};

}  // namespace dadsim::spec
