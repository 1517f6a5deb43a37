#pragma once

#include <cstddef>
#include <span>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Returns whether Recomputation::operations keeps the output of a block's layer. It keeps attention and every second
/// product, beginning with the first, but no experts, whose products are one grouped kernel.
bool is_kept_by_operations(std::span<const LayerShape> block, std::size_t position);

/// Returns the parts of blocks that occur in the network.
BlockParts parts_of_blocks(const ModelShape& model);

/// Returns the network without the activations that the backward pass recomputes for these parts. For attention these
/// are scores (Korthikanti et al., arXiv:2205.05198, section 5); for feed-forward networks and experts, inner values;
/// for other parts, their outputs (Megatron-LM, --recompute-modules).
ModelShape with_selective_recomputation(ModelShape model, BlockParts parts);

/// Returns whether the backward pass recomputes the whole layer.
bool is_computed_again(const ModelShape& model, std::size_t position, const ParallelismSpec& how);
/// Returns the numbers per sample that the backward pass recomputes in a partly recomputed layer: the outputs of the
/// experts' activation function. 0 for other layers.
double activated_again(const LayerShape& layer, const ParallelismSpec& how);
/// Returns whether the backward pass recomputes some layer; with Recomputation::selective, whether the network has
/// every part named in `how`.
bool computes_any_again(const ModelShape& model, const ParallelismSpec& how);

/// Returns the numbers per sample at the input of a block that starts with this layer. A layer without a matrix, such
/// as a norm, has equally many inputs and outputs.
double inputs_of_block(const LayerShape& first);

/// Bytes that layers keep of one sample for the backward pass, on one of `tensor` devices, whose layers are divided
/// already (spec/device_part.hpp).
class KeptActivations {
 public:
  /// Inputs that only dense products read (outputs of norms and activations) are kept as 8-bit or 4-bit casts if
  /// operands are cast (NVIDIA, Transformer Engine, keeps the cast of a product's input). `shortcut`: bytes per number
  /// of the residual stream; 0: as for other activations.
  KeptActivations(Precision precision, const ParallelismSpec& parallelism, double shortcut = 0)
      : element_(bytes_per_element(precision)),
        shortcut_(shortcut > 0 ? shortcut : element_),
        operand_(casts_operands(precision) ? operand_bytes(precision) : element_),
        recomputation_(parallelism.recomputation),
        parts_(parallelism.recomputed_parts),
        along_sequence_(parallelism.sequence_parallel ? parallelism.tensor : 1) {}

  double of(const LayerShape& layer) const;
  /// Returns the bytes kept by layers computed in parts (spec/tiles.hpp), for the current part only.
  double of_tiles(std::span<const LayerShape> layers) const;
  double of_all(std::span<const LayerShape> layers) const;
  /// Returns the bytes that a repeated block keeps between its forward and backward pass. Recomputed layers keep
  /// nothing; a fully recomputed block keeps only its inputs.
  double of_block(std::span<const LayerShape> layers) const;
  /// Returns the bytes of activation gradients that exist at the same time in a block's backward pass. In its
  /// feed-forward network these are the gradients of inner values, of the output, and of the residual stream. 0 for
  /// blocks without such a network.
  double gradients_of_block(std::span<const LayerShape> layers) const;

 private:
  static double read_by_products(const LayerShape& layer);
  double of_all_rows(const LayerShape& layer) const;
  double outputs_of(const LayerShape& layer) const;
  double inputs_of_block(std::span<const LayerShape> layers) const;
  /// Returns the number of devices that divide the layer's output along the sequence.
  double divided(const LayerShape& layer) const;

  double element_;   ///< bytes per activation
  double shortcut_;  ///< bytes per number of the residual stream
  double operand_;   ///< bytes per number that only products read
  Recomputation recomputation_;
  BlockParts parts_;  ///< recomputed parts, with Recomputation::selective
  double along_sequence_;
};

}  // namespace dadsim::spec
