#pragma once

#include <cstddef>
#include <span>

#include "spec/layer_shape.hpp"
#include "spec/parallelism.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Whether Recomputation::operations keeps what a layer of a block puts out: attention, and of products the first, the
/// third and so on; of experts, whose products are one grouped kernel, none.
bool is_kept_by_operations(std::span<const LayerShape> block, std::size_t position);

/// Whether the backward pass computes a layer of the network again.
bool is_computed_again(const ModelShape& model, std::size_t position, Recomputation recomputation);
/// Whether it does so with any.
bool computes_any_again(const ModelShape& model, Recomputation recomputation);

/// Numbers of a sample that come into a block whose first layer this is. A layer without a matrix, such as a norm, puts
/// out as many as come in.
double inputs_of_block(const LayerShape& first);

/// Bytes of what layers keep of one sample for the pass back, as one of `tensor` devices has them, whose layers are
/// divided already (spec/tensor_parallel.hpp).
class KeptActivations {
 public:
  /// Where operands are cast to 8 or 4 bit what goes into products of dense layers alone is kept as their casts: what
  /// comes out of norms and of activations (NVIDIA, Transformer Engine, which keeps the cast of a product's input).
  KeptActivations(Precision precision, const ParallelismSpec& parallelism)
      : element_(bytes_per_element(precision)),
        operand_(casts_operands(precision) ? operand_bytes(precision) : element_),
        recomputation_(parallelism.recomputation),
        along_sequence_(parallelism.sequence_parallel ? parallelism.tensor : 1) {}

  double of(const LayerShape& layer) const;
  /// What layers that are made in parts (spec/tiles.hpp) keep of the part at work alone.
  double of_tiles(std::span<const LayerShape> layers) const;
  double of_all(std::span<const LayerShape> layers) const;
  /// Of a block that repeats, from its pass forward until its pass back: what is computed again is not among it, and of
  /// a whole one what comes in alone.
  double of_block(std::span<const LayerShape> layers) const;

 private:
  static double read_by_products(const LayerShape& layer);
  double of_all_rows(const LayerShape& layer) const;
  double outputs_of(const LayerShape& layer) const;
  double inputs_of_block(std::span<const LayerShape> layers) const;
  /// Among how many devices what comes out of the layer is divided along the sequence.
  double divided(const LayerShape& layer) const;

  double element_, operand_;  ///< bytes of a number, and of one that products alone read
  Recomputation recomputation_;
  double along_sequence_;
};

}  // namespace dadsim::spec
