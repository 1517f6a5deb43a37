#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/activation.hpp"
#include "models/matrix.hpp"
#include "models/operations/operations.hpp"
#include "spec/layer_shape.hpp"
#include "spec/model_specification.hpp"
#include "spec/sample_shape.hpp"

namespace dadsim::models {

/// dLoss/dW and dLoss/db of one matrix.
template <class T>
struct LayerGradientOf {
  MatrixOf<T> weight;  ///< gradient of the weights, out × in; entries × width for a table
  VectorOf<T> bias;    ///< gradient of the biases, out; or empty
  /// `weight` is an orthogonal step, which Muon scales and applies (Dion); biases are a gradient.
  bool is_direction = false;
};
using LayerGradient = LayerGradientOf<float>;

/// dLoss/d of all parameters, laid out as ParametersOf.
template <class T>
struct GradientOf {
  std::vector<LayerGradientOf<T>> matrices;
  std::vector<VectorOf<T>> vectors;
};
using Gradient = GradientOf<float>;

/// Values and gradients of the passes over a batch. Matrices are kept between batches, and reallocated only if their
/// size changes.
template <class T>
struct TapeOf {
  std::vector<MatrixOf<T>> values;            ///< samples × size: the inputs, and each operation's output
  std::vector<MatrixOf<T>> value_gradients;   ///< dLoss/dvalues; for an operation with matrices its Δ, once computed
  std::vector<ScratchOf<T>> scratch;          ///< values that each operation keeps for its backward pass
  std::vector<VectorOf<T>> vector_gradients;  ///< gradients of ParametersOf::vectors, one per vector
  Pass pass;
  std::size_t reached = 0;  ///< lowest matrix whose Δ has been computed

  MatrixOf<T>& inputs() { return values.front(); }
  const MatrixOf<T>& logits() const { return values.back(); }
};
using Tape = TapeOf<float>;

/// A network: a sequence of operations; a sum may also read an earlier value. Softmax cross-entropy follows the last
/// operation. Matrices are numbered from 0 in the order of the forward pass, including the tables of embeddings.
///
/// EXAMPLE: the gradient of a batch
///     network.forward(inputs, pass, tape);
///     network.loss(labels, rows, tape);
///     for (std::size_t l = network.layers(); l-- > 0;) {
///       if (!network.layer(l).embedding) network.weight_gradient(l, tape, gradient);
///       network.backpropagate(l, tape);
///     }
///     // tape.vector_gradients, and network.add_embedding_gradient(…), hold the rest
template <class T>
class NetworkOf {
 public:
  NetworkOf() = default;
  /// Throws ModelMistake if the layers do not fit each other or the samples.
  NetworkOf(const spec::SampleShape& sample, const spec::ModelSpec& spec, std::uint64_t seed);
  /// Makes a network for samples that are plain vectors.
  NetworkOf(std::int64_t features, const spec::ModelSpec& spec, std::uint64_t seed)
      : NetworkOf(spec::SampleShape{1, 1, features}, spec, seed) {}

  /// Returns the number of matrices, including tables.
  std::size_t layers() const { return parameters_.matrices.size(); }
  WeightsOf<T>& layer(std::size_t l) { return parameters_.matrices[l]; }
  const WeightsOf<T>& layer(std::size_t l) const { return parameters_.matrices[l]; }
  ParametersOf<T>& parameters() { return parameters_; }
  const ParametersOf<T>& parameters() const { return parameters_; }

  spec::SampleShape output_shape() const { return nodes_.empty() ? sample_ : nodes_.back().operation->out(); }
  std::string name() const { return shape_.name; }
  /// Returns the layers in the order of the forward pass, including those without a matrix.
  const spec::ModelShape& shape() const { return shape_; }
  /// Returns whether the network has a batch norm. A site's pass then depends on the samples that it processes
  /// together.
  bool has_batch_statistics() const { return !parameters_.averages.empty(); }

  /// Returns φ of layer l if Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ', with the same rows in both; otherwise nothing.
  std::optional<spec::Activation> chained(std::size_t l) const { return chained_[l]; }

  /// Fills the tape from the inputs (samples × values of a sample). Inputs already in tape.inputs() are not copied.
  void forward(const Eigen::Ref<const MatrixOf<T>>& inputs, const Pass& pass, TapeOf<T>& tape) const;
  /// Repeats the forward pass from a value of the tape that the caller has changed; `value` is an index into
  /// TapeOf::values.
  void forward_again(std::size_t value, TapeOf<T>& tape) const;
  /// The input of a batch norm.
  struct BatchNormInput {
    std::size_t value = 0;  ///< index into TapeOf::values
    std::int64_t channels = 0;
  };
  std::vector<BatchNormInput> batch_norms() const;

  /// Computes the softmax cross-entropy of the logits, with one label per position of the output, and the Δ of the last
  /// matrix. Returns the summed loss ÷ total_rows; gradients are scaled alike. With total_rows = labels of all sites
  /// together, the Δ of each site carry the weight N_s ÷ ΣN. `weights`, if not empty, has a factor per label on its
  /// part of the loss; `label_smoothing`: see network.cpp. Throws std::logic_error for labels that do not fit the
  /// logits.
  T loss(std::span<const std::int32_t> labels, T total_rows, TapeOf<T>& tape, std::span<const T> weights = {},
         T label_smoothing = 0) const;

  /// Backpropagates from matrix l, whose Δ is available, to the Δ of matrix l − 1, or to the inputs. Must be called in
  /// descending order, including tables (for which it does nothing).
  void backpropagate(std::size_t l, TapeOf<T>& tape) const;

  /// Returns A or Δ of matrix l: rows ordered by sample and position, rows_per_sample of them per sample. Not for
  /// tables.
  RowsOf<T> input(std::size_t l, const TapeOf<T>& tape) const;
  RowsOf<T> delta(std::size_t l, const TapeOf<T>& tape) const;

  /// Sets the Δ of matrix l (rows × out) on the tape, for callers that compute it themselves.
  void set_delta(std::size_t l, const MatrixOf<T>& delta, TapeOf<T>& tape) const;

  /// Computes the forward derivative (JVP) of values `from` + 1 … `to` (indices into TapeOf::values) along a direction,
  /// on a tape with a forward pass. The tangent of value `from` is zero. Throws std::logic_error if an operation reads
  /// a value before `from`, or has no forward derivative.
  void differentiate(std::size_t from, std::size_t to, const DirectionOf<T>& direction, const TapeOf<T>& tape,
                     std::vector<MatrixOf<T>>& tangents) const;
  /// Returns the index into TapeOf::values of the input of matrix l, or of its operation's output.
  std::size_t value_before(std::size_t l) const { return nodes_[node_of_matrix_.at(l)].in; }
  std::size_t value_behind(std::size_t l) const { return node_of_matrix_.at(l) + 1; }
  std::size_t values() const { return nodes_.size() + 1; }
  spec::SampleShape value_shape(std::size_t value) const {
    return value == 0 ? sample_ : nodes_[value - 1].operation->out();
  }
  /// Returns whether all later values depend on the samples through this value alone.
  bool separates(std::size_t value) const;
  /// Returns whether the gradient of matrix l's pre-activations is zero wherever the output is 0 (ReLU).
  bool gates(std::size_t l) const { return nodes_[node_of_matrix_.at(l)].operation->gates(); }

  /// Computes the gradient of matrix l over all samples: weight_gradient(delta(l), input(l)) up to rounding, without
  /// necessarily gathering A and Δ as rows. Not for tables.
  void weight_gradient(std::size_t l, const TapeOf<T>& tape, LayerGradientOf<T>& gradient) const;

  /// Adds the gradient of table l over the given samples to `sum` (entries × width). The caller must complete the
  /// backward pass first.
  void add_embedding_gradient(std::size_t l, const TapeOf<T>& tape, Eigen::Index first_sample, Eigen::Index samples,
                              MatrixOf<T>& sum) const;
  /// Returns, for all samples, the symbols read from a table (one column), or the gradients of the rows read.
  RowsOf<T> embedding_symbols(std::size_t l, const TapeOf<T>& tape) const;
  RowsOf<T> embedding_deltas(std::size_t l, const TapeOf<T>& tape) const;

  /// Updates the running statistics from a training pass.
  void update_running_statistics(const TapeOf<T>& tape);

 private:
  struct NetworkNode {
    OperationPointer<T> operation;
    std::size_t in = 0;                           ///< index into TapeOf::values; node n gives value n + 1
    std::optional<std::size_t> second;            ///< second input of a sum
    bool add_in = false, add_second = false;      ///< true: a later operation has already written a value_gradient
                                                  ///< there
    bool needs_in = false, needs_second = false;  ///< true: an operation before the value has parameters
  };

  FlowOf<T> flow(std::size_t node, TapeOf<T>& tape) const;
  /// Runs the backward pass of operations before `end`, down to one with a matrix.
  void backward_until_matrix(std::size_t end, TapeOf<T>& tape) const;
  void backpropagate_node(std::size_t node, TapeOf<T>& tape) const;

  spec::SampleShape sample_;
  spec::ModelShape shape_;
  ParametersOf<T> parameters_;
  std::vector<NetworkNode> nodes_;
  std::vector<std::size_t> node_of_matrix_;
  std::vector<std::optional<spec::Activation>> chained_;
};
using Network = NetworkOf<float>;

extern template class NetworkOf<float>;
extern template class NetworkOf<double>;

/// Returns φ(x Wᵀ + b) of the given rows; writes Z = x Wᵀ + b to `pre_activation` if that is not null.
template <class T>
MatrixOf<T> forward_rows(const WeightsOf<T>& weights, spec::Activation activation, ConstBlockOf<T> rows,
                         MatrixOf<T>* pre_activation);

/// Computes G = Δᵀ A for the given rows, and with `with_bias` the bias gradient (column sums of Δ). Reuses the memory
/// of `gradient` if its size fits.
template <class T>
void weight_gradient(ConstBlockOf<T> delta, ConstBlockOf<T> input, bool with_bias, LayerGradientOf<T>& gradient);
template <class T>
LayerGradientOf<T> weight_gradient(ConstBlockOf<T> delta, ConstBlockOf<T> input, bool with_bias);

}  // namespace dadsim::models
