#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/layer_passes.hpp"
#include "spec/names.hpp"

namespace dadsim::spec {

enum class LayerKind : std::uint8_t {
  dense,          ///< a matrix product
  convolution,    ///< a matrix product over patches
  attention,      ///< softmax(Q·Kᵀ)·V, without the projections
  recurrence,     ///< the gates of a recurrent layer, position after position; its matrices are separate dense layers
  embedding,      ///< a table whose rows are read
  normalisation,  ///< batch and layer norms
  element_wise,   ///< any other layer that passes over its values
};

constexpr auto names_of(LayerKind) {
  using enum LayerKind;
  return std::to_array<Name<LayerKind>>({{dense, "dense"},
                                         {convolution, "convolution"},
                                         {attention, "attention"},
                                         {recurrence, "recurrence"},
                                         {embedding, "embedding"},
                                         {normalisation, "normalisation"},
                                         {element_wise, "element-wise"}});
}

/// Division of a layer among T devices by tensor parallelism (Shoeybi et al., arXiv:1909.08053, section 3).
enum class TensorSplit : std::uint8_t {
  whole,       ///< undivided: every device has it and computes all of it
  column,      ///< out ÷ T outputs each, from all inputs: Δ of the inputs is summed over the devices
  row,         ///< in ÷ T inputs each, to all outputs: the outputs are summed over the devices
  heads,       ///< attention: its heads ÷ T; nothing to sum
  vocabulary,  ///< a table's entries ÷ T, like `row` for embeddings and `column` for a decoder
};

/// Timing properties of one layer, of the network that learns or of a workload that is only timed.
struct LayerShape {
  std::string name;
  LayerKind kind = LayerKind::dense;
  /// The weight matrix is out × in; both are 0 without a matrix. For a table, `out` is the number of entries and `in`
  /// their width.
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = false;  ///< one bias per output in addition to the matrix
  std::int64_t rows_per_sample =
      1;  ///< rows of A and Δ per sample: 1 in an MLP, tokens in a transformer, H·W in a convolution
  std::int64_t parameters = 0;         ///< learned floats, biases included
  double forward_macs_per_sample = 0;  ///< multiply-adds of the forward pass
  double outputs_per_sample = 0;       ///< elements that the forward pass writes
  std::int64_t sequential = 1;         ///< kernels that must follow each other in a pass: positions of a recurrence
  /// Elements that the forward pass reads, each once; 0: rows_per_sample × in. Fewer in a convolution, whose windows
  /// overlap.
  double inputs_per_sample = 0;
  /// True if Δ of this layer follows from Δ of the next one in the list, Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ'(Z_l). Then both
  /// layers are dense with the same rows, and only φ lies between them. False if unknown.
  bool delta_follows = false;
  TensorSplit split = TensorSplit::whole;  ///< division under tensor parallelism
  /// Indivisible heads of attention, and of the projections for its queries, keys or values; 0: none.
  std::int64_t heads = 0;
  /// Equal matrices in × out, of which each row uses one; `rows_per_sample` counts a token once per expert that it
  /// uses.
  std::int64_t experts = 1;
  std::int64_t experts_per_token = 1;  ///< experts that a token uses
  /// Devices that divide the experts of the network (each is left with `experts`), and devices with the same experts.
  /// Both are 1 if every device has all experts.
  std::int32_t expert_group = 1, expert_copies = 1;
  /// Floats that are not learned. They are stored, and gathered if parameters are divided, but have no gradient and no
  /// optimizer state.
  std::int64_t frozen = 0;
  /// Rank of an adapter on a frozen matrix, whose `parameters` counts the adapter alone; 0: none.
  std::int64_t adapter_rank = 0;
  bool causal = false;  ///< true: a position attends only to itself and previous positions
  /// Mean number of positions seen by causal attention that omits some; 0: it omits none.
  double keys_seen = 0;
  /// Attention: numbers of the keys and values per position, all heads together.
  std::int64_t keys_and_values = 0;
  double scores_per_sample = 0;  ///< softmax results, one number per pair of positions; part of attention's outputs
  double frozen_macs_per_sample = 0;  ///< multiply-adds with weights whose gradient is not formed; part of the forward
                                      ///< pass
  double recomputed_macs_per_sample = 0;  ///< multiply-adds of the forward pass that the backward pass repeats
  /// Elements kept for the backward pass in addition to the outputs, in the same precision: for example the inputs of a
  /// GELU. Below zero if outputs are not kept, at least −outputs_per_sample.
  double kept_beside_per_sample = 0;
  double kept_bytes_per_sample = 0;  ///< additional bytes kept in any precision: dropout masks, class scores in fp32
  /// Bytes in 16 bit, per output number, that kernels besides the product of divided experts pass over: forward and
  /// backward.
  double passed_forward = 0, passed_back = 0;
  FlashLibrary library = FlashLibrary::any;  ///< library of attention without written scores
  LayerPasses passes = {};                   ///< passes besides the products, in the layer's program

  double outputs_kept() const { return outputs_per_sample + kept_beside_per_sample; }  ///< kept elements, per sample
  double inputs() const;  ///< elements that the forward pass reads per sample
  /// Returns how often a convolution's windows contain each input: 9 for 3×3 windows with a stride of one; otherwise 1.
  double overlap() const;

  /// Returns whether the gradient is Δᵀ·A for the rows of A and Δ of this layer, which dAD and related methods share.
  /// Each expert has its own, over the rows sent to it.
  bool has_outer_product() const { return kind != LayerKind::embedding && has_matrix(); }
  /// Returns whether the layer has a matrix of its own, including an embedding's table. Gradient compressors work on
  /// these matrices.
  bool has_matrix() const { return in > 0 && out > 0 && parameters >= experts * in * out; }
  /// Returns whether the layer's matrix is the table of an embedding, so that the layer owns at most a bias.
  bool is_tied() const {
    return kind == LayerKind::dense && experts == 1 && forward_macs_per_sample > 0 &&
           (in * out == 0 || parameters + frozen < in * out);
  }
  bool operator==(const LayerShape&) const = default;
};

/// Returns a dense layer of an MLP.
LayerShape dense_shape(std::string name, std::int64_t in, std::int64_t out, bool bias);

/// A network as a list of layers, input first.
struct ModelShape {
  std::string name;
  std::vector<LayerShape> layers;

  std::int64_t parameters() const;
  double forward_macs_per_sample() const;
  bool operator==(const ModelShape&) const = default;
};

/// Relations of layer `position` of a network to other layers, needed by edAD.
struct DeltaRelations {
  bool follows_below = false;  ///< true: the Δ of the previous layer follows from this layer's Δ
  /// True: an earlier layer needs a Δ from the site's own backward pass, because its Δ does not follow or it has
  /// parameters outside matrices.
  bool needed_below = false;
  bool last_matrix = false;  ///< true: no later layer has an outer product
  /// True: the layer has an outer product, is not a convolution at the beginning, and is not the last layer. Muon takes
  /// such matrices.
  bool hidden_matrix = false;
};
DeltaRelations delta_relations(const ModelShape& model, std::size_t position);
/// Returns, per layer with a matrix, whether DeltaRelations::hidden_matrix holds.
std::vector<bool> hidden_matrices(const ModelShape& model);

/// Returns all layers with a matrix (embedding tables included or not) as one layer with their parameters and nothing
/// else. It serves operations on all gradients at once.
LayerShape all_as_one(const ModelShape& model, bool embeddings);

}  // namespace dadsim::spec
