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
  recurrence,     ///< the gates of a recurrent layer, position after position; its matrices are dense layers beside it
  embedding,      ///< a table of which rows are read
  normalisation,  ///< batch and layer norms
  element_wise,   ///< anything else that passes over its values
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

/// How tensor parallelism of width T divides a layer among T devices (Shoeybi et al., arXiv:1909.08053, section 3).
enum class TensorSplit : std::uint8_t {
  whole,       ///< not at all: every device has it and does all of it
  column,      ///< out ÷ T outputs each, from all inputs: Δ of the inputs is summed over the devices
  row,         ///< in ÷ T inputs each, to all outputs: the outputs are summed over the devices
  heads,       ///< attention: its heads ÷ T; nothing to sum
  vocabulary,  ///< a table's entries ÷ T, as `row` for embeddings and as `column` for a decoder
};

/// What timing needs to know of one layer, of the network that learns or of a workload that is only timed.
struct LayerShape {
  std::string name;
  LayerKind kind = LayerKind::dense;
  /// The weight matrix is out × in; both are 0 if the layer has none. Of a table, `out` counts the entries and `in` is
  /// their width.
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = false;  ///< one bias per output beside the matrix
  std::int64_t rows_per_sample =
      1;  ///< rows of A and Δ per sample: 1 in an MLP, tokens in a transformer, H·W in a convolution
  std::int64_t parameters = 0;         ///< learned floats, biases included
  double forward_macs_per_sample = 0;  ///< multiply-adds of the forward pass
  double outputs_per_sample = 0;       ///< elements that the forward pass writes
  std::int64_t sequential = 1;         ///< kernels that must follow each other in a pass: positions of a recurrence
  /// Elements that the forward pass reads, each once; 0: rows_per_sample × in. Less than that in a convolution, whose
  /// windows overlap.
  double inputs_per_sample = 0;
  /// Δ of this layer follows from that of the next one in the list, Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ'(Z_l): both are dense,
  /// with the same rows, and nothing but φ is between them. False where nobody has said so.
  bool delta_follows = false;
  TensorSplit split = TensorSplit::whole;  ///< where tensor parallelism is asked for
  /// Heads that cannot be divided further: of attention, and of the projections that make its queries, keys or values;
  /// 0: it has none.
  std::int64_t heads = 0;
  /// Equal matrices in × out of which each row goes through one, its `rows_per_sample` counting a token once for each
  /// expert that it goes through.
  std::int64_t experts = 1;
  std::int64_t experts_per_token = 1;  ///< through which a token goes
  /// Devices that divide the experts of the network, `experts` being what is left to each, and how many have the same:
  /// 1 and 1 where every device has all.
  std::int32_t expert_group = 1, expert_copies = 1;
  /// Floats that are not learned: held, gathered where parameters are divided, without gradient or optimizer.
  std::int64_t frozen = 0;
  /// Of an adapter beside a frozen matrix, of which `parameters` counts the adapter alone; 0: it has none.
  std::int64_t adapter_rank = 0;
  bool causal = false;  ///< attention in which a position sees those before it and itself alone
  /// Causal attention that leaves some of those out: positions that one sees in the mean; 0: it leaves none out.
  double keys_seen = 0;
  /// Attention: numbers of the keys and values of a position, of all heads together.
  std::int64_t keys_and_values = 0;
  double scores_per_sample = 0;  ///< of the outputs of attention: what softmax gives, a number per pair of positions
  double frozen_macs_per_sample = 0;      ///< of the forward pass: with weights whose gradient is not formed
  double recomputed_macs_per_sample = 0;  ///< multiply-adds of the forward pass that the backward pass does again
  /// Elements that the backward pass keeps of it beside its outputs, as wide as these: what goes into a GELU beside
  /// what comes out. Below zero where outputs are not kept, at least −outputs_per_sample.
  double kept_beside_per_sample = 0;
  double kept_bytes_per_sample = 0;  ///< and bytes in any precision: masks of dropout, scores of classes in fp32
  /// Bytes, in 16 bit, that kernels beside the product of divided experts pass over for each number that comes out of
  /// it, in the pass forward and back.
  double passed_forward = 0, passed_back = 0;
  FlashLibrary library = FlashLibrary::any;  ///< attention that writes no scores: whose
  LayerPasses passes = {};                   ///< of the program that it is a part of

  double outputs_kept() const { return outputs_per_sample + kept_beside_per_sample; }  ///< for the backward pass
  double inputs() const;  ///< elements that the forward pass reads per sample
  /// How often the windows of a convolution hold each input: 9 for 3×3 windows with a stride of one; 1 elsewhere.
  double overlap() const;

  /// Whether the gradient is Δᵀ·A for the rows of A and Δ that this layer yields: what dAD and its relatives share. Of
  /// experts each has its own, over the rows that came to it.
  bool has_outer_product() const { return kind != LayerKind::embedding && has_matrix(); }
  /// Whether it has a matrix of its own, an embedding's table included: what compressors of gradients work on.
  bool has_matrix() const { return in > 0 && out > 0 && parameters >= experts * in * out; }
  /// Whether its matrix is the table of an embedding: at most a bias is its own.
  bool is_tied() const {
    return kind == LayerKind::dense && experts == 1 && forward_macs_per_sample > 0 &&
           (in * out == 0 || parameters + frozen < in * out);
  }
  bool operator==(const LayerShape&) const = default;
};

/// A dense layer of an MLP.
LayerShape dense_shape(std::string name, std::int64_t in, std::int64_t out, bool bias);

/// A network as a list of layers, input first.
struct ModelShape {
  std::string name;
  std::vector<LayerShape> layers;

  std::int64_t parameters() const;
  double forward_macs_per_sample() const;
  bool operator==(const ModelShape&) const = default;
};

/// What edAD needs to know of layer `position` of a network beside the layer itself.
struct DeltaRelations {
  bool follows_below = false;  ///< the layer before it has a Δ that follows from its own
  /// Something before it needs a Δ that a site finds by a backward pass of its own: one that does not follow, or
  /// parameters beside matrices.
  bool needed_below = false;
  bool last_matrix = false;  ///< no layer behind it has an outer product
};
DeltaRelations delta_relations(const ModelShape& model, std::size_t position);

/// All layers with a matrix (tables of embeddings among them or not) as one that has their parameters and nothing else:
/// for what is done to all gradients at once.
LayerShape all_as_one(const ModelShape& model, bool embeddings);

}  // namespace dadsim::spec
