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
  recurrence,     ///< gates of a recurrent layer, position after position; the layer's matrices are separate dense
                  ///< layers
  embedding,      ///< a table whose rows are looked up
  normalisation,  ///< batch and layer norms
  element_wise,   ///< any other layer that processes its values element by element
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
  whole,       ///< undivided: every device computes all of it
  column,      ///< out ÷ T outputs per device, from all inputs; the devices sum Δ of the inputs
  row,         ///< in ÷ T inputs per device, to all outputs; the devices sum the outputs
  heads,       ///< attention: heads ÷ T per device; no sum
  vocabulary,  ///< table entries ÷ T per device; sums as for `row` in embeddings and `column` in decoders
};

/// One layer as timing sees it, of the learning network or of a timed workload.
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
  std::int64_t parameters = 0;         ///< number of learned parameters, including biases
  double forward_macs_per_sample = 0;  ///< multiply-adds of the forward pass, per sample
  double outputs_per_sample = 0;       ///< elements written by the forward pass, per sample
  std::int64_t sequential = 1;         ///< number of dependent kernels in a pass: the positions of a recurrence
  /// Elements that the forward pass reads, each once; 0: rows_per_sample × in. Convolutions read fewer, because their
  /// windows overlap.
  double inputs_per_sample = 0;
  /// True if Δ of this layer can be computed from Δ of the next one in the list: Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ'(Z_l).
  /// Both layers are then dense with the same rows, with only φ between them. False if unknown.
  bool delta_follows = false;
  TensorSplit split = TensorSplit::whole;  ///< division among devices by tensor parallelism
  /// Number of heads of attention, or of the projections for queries, keys or values. A head is not divided among
  /// devices. 0: none.
  std::int64_t heads = 0;
  /// Number of equal in × out matrices, of which each row uses one. `rows_per_sample` counts a token once for each
  /// expert that it uses.
  std::int64_t experts = 1;
  std::int64_t experts_per_token = 1;  ///< experts per token
  /// Number of devices that divide the experts of the network (`experts` counts one device's), and of devices with the
  /// same experts. Both are 1 if every device has all experts.
  std::int32_t expert_group = 1, expert_copies = 1;
  /// Number of frozen parameters. They are stored, and gathered if parameters are divided, but have no gradient and no
  /// optimizer state.
  std::int64_t frozen = 0;
  /// Rank of an adapter on a frozen matrix; `parameters` then counts only the adapter. 0: no adapter.
  std::int64_t adapter_rank = 0;
  bool causal = false;  ///< true: causal attention, each position sees only itself and previous ones
  /// Mean number of positions seen by causal attention with a window or chunks; 0: all previous positions.
  double keys_seen = 0;
  /// Attention: numbers of keys and values per position, over all heads.
  std::int64_t keys_and_values = 0;
  double scores_per_sample = 0;           ///< softmax results, one per pair of positions; part of attention's outputs
  double frozen_macs_per_sample = 0;      ///< multiply-adds of the forward pass with weights that need no gradient
  double recomputed_macs_per_sample = 0;  ///< multiply-adds of the forward pass that the backward pass repeats
  /// Elements kept for the backward pass in addition to the outputs, in the same precision, such as the inputs of a
  /// GELU. Negative if outputs are not kept, down to −outputs_per_sample.
  double kept_beside_per_sample = 0;
  double kept_bytes_per_sample = 0;  ///< bytes kept per sample in other formats: dropout masks, class scores in fp32
  /// Bytes per output number, in 16 bit, that kernels before and after the products of divided experts read and write,
  /// in the forward and in the backward pass.
  double passed_forward = 0, passed_back = 0;
  FlashLibrary library = FlashLibrary::any;  ///< library of fused attention
  LayerPasses passes = {};                   ///< memory passes in addition to the products, in the layer's program

  double outputs_kept() const { return outputs_per_sample + kept_beside_per_sample; }  ///< elements kept per sample
  double inputs() const;  ///< elements read by the forward pass per sample
  /// Returns the number of a convolution's windows that contain an input: 9 for 3×3 windows with stride one; 1 for
  /// other layers.
  double overlap() const;

  /// Returns whether the gradient is an outer product Δᵀ·A of this layer's rows, which dAD and related methods share.
  /// Each expert has its own, over the rows sent to it.
  bool has_outer_product() const { return kind != LayerKind::embedding && has_matrix(); }
  /// Returns whether the layer has its own matrix, including an embedding's table. Gradient compressors work on these
  /// matrices.
  bool has_matrix() const { return in > 0 && out > 0 && parameters >= experts * in * out; }
  /// Returns whether the layer uses the table of an embedding as its matrix, so that it owns at most a bias.
  bool is_tied() const {
    return kind == LayerKind::dense && experts == 1 && forward_macs_per_sample > 0 &&
           (in * out == 0 || parameters + frozen < in * out);
  }
  bool operator==(const LayerShape&) const = default;
};

/// Returns a dense layer of an MLP.
LayerShape dense_shape(std::string name, std::int64_t in, std::int64_t out, bool bias);

/// A network as a list of layers, in the order of the forward pass.
struct ModelShape {
  std::string name;
  std::vector<LayerShape> layers;

  std::int64_t parameters() const;
  double forward_macs_per_sample() const;
  bool operator==(const ModelShape&) const = default;
};

/// Relations of a layer to other layers of the network, for edAD.
struct DeltaRelations {
  bool follows_below = false;  ///< true: Δ of the previous layer can be computed from Δ of this layer
  /// True: an earlier layer needs Δ from the site's own backward pass, because its Δ cannot be computed from this one
  /// or it has parameters outside matrices.
  bool needed_below = false;
  bool last_matrix = false;  ///< true: no later layer has an outer product
  /// True: the layer has an outer product, is not a convolution at the beginning of the network, and does not compute
  /// the network's outputs. Muon is used for the matrices of such layers.
  bool hidden_matrix = false;
};
DeltaRelations delta_relations(const ModelShape& model, std::size_t position);
/// Returns, per layer with a matrix, whether DeltaRelations::hidden_matrix holds.
std::vector<bool> hidden_matrices(const ModelShape& model);

/// Merges all layers with a matrix (optionally with embedding tables) into one layer that has only their parameters.
/// Used for operations on all gradients at once.
LayerShape all_as_one(const ModelShape& model, bool embeddings);

}  // namespace dadsim::spec
