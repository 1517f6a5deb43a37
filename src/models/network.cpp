#include "models/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "models/gemm/product.hpp"
#include "models/operation.hpp"
#include "models/operations/column_sums.hpp"
#include "spec/model_shape.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

/// Returns the softmax cross-entropy of logits (rows × K classes), a label per row: the sum over rows ÷ total_rows;
/// writes its derivative by each logit to `gradient`. `weights`, if not empty, has a factor per row. With label
/// smoothing ε, from 0 to below 1, the target of a row is 1 − ε on its label and ε ÷ K on each of the K classes
/// (Szegedy et al., arXiv 1512.00567, section 7):
///     loss = −Σ_k target_k log p_k, with p the softmax of the row;    gradient = (p − target) ÷ total_rows.
/// Throws std::logic_error for labels that do not fit the logits, and for total_rows or ε out of range.
template <class T>
T cross_entropy(RowsOf<T> logits, std::span<const std::int32_t> labels, T total_rows, std::span<const T> weights,
                T label_smoothing, MutableRowsOf<T> gradient) {
  using Eigen::Index;
  const Index classes = logits.cols();
  if (static_cast<Index>(labels.size()) != logits.rows()) throw std::logic_error("loss: one label per row");
  if (!weights.empty() && weights.size() != labels.size()) throw std::logic_error("loss: one weight per label");
  if (!(total_rows > T(0))) throw std::logic_error("loss: total_rows must be positive");
  if (!(label_smoothing >= T(0) && label_smoothing < T(1))) throw std::logic_error("loss: smoothing from 0 to below 1");
  const T on_label = (T(1) - label_smoothing) / total_rows;
  const T on_each = label_smoothing / (static_cast<T>(classes) * total_rows);
  constexpr std::size_t kRows = 128;
  std::vector<double> sums((labels.size() + kRows - 1) / kRows, 0.0);
  parallel_for_blocks(labels.size(), kRows, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t row = begin; row < end; ++row) {
      const std::int32_t label = labels[row];
      if (label < 0 || label >= classes) throw std::logic_error("loss: a label is not one of the classes");
      // Uses log Σ exp(z) = m + log Σ exp(z − m), which cannot overflow.
      const auto z = logits.row(static_cast<Index>(row)).array();
      const T largest = z.maxCoeff();
      auto p = gradient.row(static_cast<Index>(row)).array();
      p = (z - largest).exp();
      const T total = p.sum();
      T own = std::log(total) + largest - z(label);
      p *= T(1) / (total * total_rows);
      p(label) -= on_label;
      if (label_smoothing > T(0)) {
        // Targets add up to 1, so smoothing adds ε (z_label − mean of z) to the loss.
        own += label_smoothing * ((z(label) - largest) - (z - largest).mean());
        p -= on_each;
      }
      sum += static_cast<double>(own) * (weights.empty() ? 1.0 : static_cast<double>(weights[row]));
      if (!weights.empty()) p *= weights[row];
    }
    sums[begin / kRows] = sum;
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return static_cast<T>(sum / static_cast<double>(total_rows));
}

template float cross_entropy(RowsOf<float>, std::span<const std::int32_t>, float, std::span<const float>, float,
                             MutableRowsOf<float>);
template double cross_entropy(RowsOf<double>, std::span<const std::int32_t>, double, std::span<const double>, double,
                              MutableRowsOf<double>);

}  // namespace

using Eigen::Index;

/// Translates the layers of a model into operations.
template <class T>
class ProgramOf {
 public:
  ProgramOf(ParametersOf<T>& parameters, std::uint64_t seed) : builder_(parameters, seed) {}

  struct NetworkStep {
    OperationPointer<T> operation;
    std::size_t in = 0;
    std::optional<std::size_t> second;
    std::optional<spec::Activation> dense;  ///< φ of the last layer if it is dense; otherwise none
  };

  /// Appends the operations of layers after value `value` of shape `shape`; updates both to describe the result.
  void append(const std::vector<spec::LayerSpec>& layers, std::size_t& value, spec::SampleShape& shape) {
    for (const spec::LayerSpec& layer : layers) {
      std::visit([&](const auto& spec) { add(spec, value, shape); }, layer.what);
    }
  }

  std::vector<NetworkStep> take() { return std::move(steps_); }

 private:
  void push(OperationPointer<T> operation, std::size_t& value, spec::SampleShape& shape,
            std::optional<std::size_t> second = {}, std::optional<spec::Activation> dense = {}) {
    shape = operation->out();
    steps_.push_back({std::move(operation), value, second, dense});
    value = steps_.size();
  }

  void add(const spec::DenseSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_dense<T>(spec, shape, builder_), value, shape, {}, spec.activation);
  }
  void add(const spec::ConvolutionSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_convolution<T>(spec, shape, builder_), value, shape);
  }
  void add(const spec::PoolSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_pool<T>(spec, shape), value, shape);
  }
  void add(const spec::MeanSpec&, std::size_t& value, spec::SampleShape& shape) {
    push(make_mean<T>(shape), value, shape);
  }
  void add(const spec::SelectSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_select<T>(spec, shape), value, shape);
  }
  void add(const spec::RecurrentSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(spec.cell == spec::RecurrentSpec::Cell::gru ? make_gru<T>(spec, shape, builder_)
                                                     : make_lstm<T>(spec, shape, builder_),
         value, shape);
  }
  void add(const spec::AttentionSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    const std::int64_t channels = shape.channels;
    shape = {1, shape.positions(), channels};
    add(spec::DenseSpec{3 * channels, spec::Activation::identity, spec.bias, true}, value, shape);
    push(make_attention_scores<T>(spec, shape), value, shape);
    add(spec::DenseSpec{channels, spec::Activation::identity, spec.bias, true}, value, shape);
  }
  void add(const spec::LayerNormSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_layer_norm<T>(spec, shape, builder_), value, shape);
  }
  void add(const spec::BatchNormSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_batch_norm<T>(spec, shape, builder_), value, shape);
  }
  void add(const spec::EmbeddingSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_embedding<T>(spec, shape, builder_), value, shape);
  }
  void add(const spec::PositionsSpec&, std::size_t& value, spec::SampleShape& shape) {
    push(make_positions<T>(shape, builder_), value, shape);
  }
  void add(const spec::ClassTokenSpec&, std::size_t& value, spec::SampleShape& shape) {
    push(make_class_token<T>(shape, builder_), value, shape);
  }
  void add(const spec::DropoutSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    push(make_dropout<T>(spec, shape, dropouts_++), value, shape);
  }
  void add(const spec::ResidualSpec& spec, std::size_t& value, spec::SampleShape& shape) {
    std::size_t beside = value;
    spec::SampleShape beside_shape = shape;
    append(spec.layers, value, shape);
    append(spec.shortcut, beside, beside_shape);
    push(make_add<T>(spec.activation, shape), value, shape, beside);
  }

  ParameterBuilder<T> builder_;
  std::vector<NetworkStep> steps_;
  std::uint32_t dropouts_ = 0;
};

template <class T>
NetworkOf<T>::NetworkOf(const spec::SampleShape& sample, const spec::ModelSpec& spec, std::uint64_t seed)
    : sample_(sample), shape_(model_shape(spec, sample)) {
  if (sample.size() < 1 || spec.layers.empty()) throw std::logic_error("a network needs features and layers");
  ProgramOf<T> program(parameters_, seed);
  std::size_t value = 0;
  spec::SampleShape shape = sample;
  program.append(spec.layers, value, shape);
  auto steps = program.take();

  node_of_matrix_.resize(parameters_.matrices.size());
  std::vector<bool> learned{false};  // true: an operation before the value has parameters, per value
  for (const auto& step : steps) {
    NetworkNode node{step.operation, step.in, step.second};
    node.needs_in = learned[step.in];
    node.needs_second = step.second && learned[*step.second];
    learned.push_back(node.needs_in || node.needs_second || step.operation->learns());
    for (std::size_t k = 0; k < step.operation->matrices(); ++k) {
      node_of_matrix_[step.operation->first_matrix() + k] = nodes_.size();
    }
    nodes_.push_back(std::move(node));
  }
  // The last reader of a value comes first in the backward pass and sets its value_gradient; other readers add theirs.
  std::vector<bool> read(nodes_.size() + 1, false);
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    NetworkNode& node = nodes_[n];
    node.add_in = read[node.in];
    read[node.in] = true;
    if (node.second) {
      node.add_second = read[*node.second];
      read[*node.second] = true;
    }
  }
  std::vector<std::size_t> readers(nodes_.size() + 1, 0);
  for (const NetworkNode& node : nodes_) {
    ++readers[node.in];
    if (node.second) ++readers[*node.second];
  }
  chained_.resize(layers());
  for (std::size_t l = 0; l + 1 < layers(); ++l) {
    const std::size_t below = node_of_matrix_[l];
    const std::size_t above = node_of_matrix_[l + 1];
    const bool dense = steps[below].dense && steps[above].dense;
    const bool direct = above > below && nodes_[above].in == below + 1 && readers[below + 1] == 1;
    if (!dense || !direct) continue;
    // Both matrices must have the same rows: one per position, or one per sample.
    const Index rows_below = nodes_[below].operation->out().size() / layer(l).out();
    const Index rows_above = nodes_[above].operation->in().size() / layer(l + 1).in();
    if (rows_below == rows_above) chained_[l] = steps[below].dense;
  }
  std::size_t matrix = 0;
  for (spec::LayerShape& layer : shape_.layers) {
    if (layer.has_matrix()) layer.delta_follows = chained_[matrix++].has_value();
  }
}

template <class T>
FlowOf<T> NetworkOf<T>::flow(std::size_t node, TapeOf<T>& tape) const {
  const NetworkNode& n = nodes_[node];
  return {.parameters = parameters_,
          .pass = tape.pass,
          .input = tape.values[n.in],
          .second = n.second ? &tape.values[*n.second] : nullptr,
          .output = tape.values[node + 1],
          .value_gradient = tape.value_gradients[node + 1],
          .scratch = tape.scratch[node],
          .vector_gradients = tape.vector_gradients};
}

template <class T>
void NetworkOf<T>::forward(const Eigen::Ref<const MatrixOf<T>>& inputs, const Pass& pass, TapeOf<T>& tape) const {
  if (inputs.cols() != sample_.size()) throw std::logic_error("forward: the inputs and the network differ in width");
  tape.values.resize(nodes_.size() + 1);
  tape.value_gradients.resize(nodes_.size() + 1);
  tape.scratch.resize(nodes_.size());
  tape.vector_gradients.resize(parameters_.vectors.size());
  tape.pass = pass;
  tape.reached = layers();
  MatrixOf<T>& first = tape.inputs();
  const bool in_place = inputs.data() == first.data() && inputs.rows() == first.rows() && inputs.cols() == first.cols();
  if (!in_place) first = inputs;
  for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_[n].operation->forward(flow(n, tape));
}

template <class T>
void NetworkOf<T>::forward_again(std::size_t value, TapeOf<T>& tape) const {
  if (tape.values.size() != nodes_.size() + 1) throw std::logic_error("forward_again: forward must run first");
  for (std::size_t n = value; n < nodes_.size(); ++n) nodes_[n].operation->forward(flow(n, tape));
}

template <class T>
std::vector<typename NetworkOf<T>::BatchNormInput> NetworkOf<T>::batch_norms() const {
  std::vector<BatchNormInput> inputs;
  for (const NetworkNode& node : nodes_) {
    if (node.operation->is_batch_norm()) inputs.push_back({node.in, node.operation->in().channels});
  }
  return inputs;
}

template <class T>
T NetworkOf<T>::loss(std::span<const std::int32_t> labels, T total_rows, TapeOf<T>& tape, std::span<const T> weights,
                     T label_smoothing) const {
  if (nodes_.empty() || tape.values.size() != nodes_.size() + 1) throw std::logic_error("loss: forward must run first");
  const Index classes = output_shape().channels;
  MatrixOf<T>& gradient = tape.value_gradients.back();
  gradient.resize(tape.logits().rows(), tape.logits().cols());
  const T loss = cross_entropy<T>(as_rows(tape.logits(), classes), labels, total_rows, weights, label_smoothing,
                                  as_rows(gradient, classes));
  backward_until_matrix(nodes_.size(), tape);
  return loss;
}

template <class T>
void NetworkOf<T>::backward_until_matrix(std::size_t end, TapeOf<T>& tape) const {
  for (std::size_t n = end; n-- > 0;) {
    const OperationOf<T>& operation = *nodes_[n].operation;
    // Skips values without an operation with parameters before them, which need no value_gradient.
    if (!nodes_[n].needs_in && !nodes_[n].needs_second && !operation.learns()) continue;
    operation.backward(flow(n, tape));
    if (operation.matrices() > 0 && !layer(operation.first_matrix()).embedding) {
      tape.reached = operation.first_matrix();
      return;
    }
    backpropagate_node(n, tape);
  }
  tape.reached = 0;
}

template <class T>
void NetworkOf<T>::backpropagate_node(std::size_t node, TapeOf<T>& tape) const {
  const NetworkNode& n = nodes_[node];
  if (n.needs_in) n.operation->backpropagate(flow(node, tape), tape.value_gradients[n.in], n.add_in);
  if (n.needs_second)
    n.operation->backpropagate_second(flow(node, tape), tape.value_gradients[*n.second], n.add_second);
}

template <class T>
void NetworkOf<T>::backpropagate(std::size_t l, TapeOf<T>& tape) const {
  if (l >= layers() || tape.values.size() != nodes_.size() + 1) {
    throw std::logic_error("propagate: no such matrix, or nothing on the tape");
  }
  const std::size_t node = node_of_matrix_[l];
  const OperationOf<T>& operation = *nodes_[node].operation;
  if (layer(l).embedding || l > operation.first_matrix()) return;  // an operation backpropagates at its first matrix
  if (tape.reached != l) throw std::logic_error("propagate: matrices in falling order");
  backpropagate_node(node, tape);
  backward_until_matrix(node, tape);
}

template <class T>
RowsOf<T> NetworkOf<T>::input(std::size_t l, const TapeOf<T>& tape) const {
  const std::size_t node = node_of_matrix_.at(l);
  const OperationOf<T>& operation = *nodes_[node].operation;
  // Threads may share the tape, which operations only read here.
  return operation.rows(l - operation.first_matrix(), flow(node, const_cast<TapeOf<T>&>(tape)));
}

template <class T>
RowsOf<T> NetworkOf<T>::delta(std::size_t l, const TapeOf<T>& tape) const {
  const std::size_t node = node_of_matrix_.at(l);
  const OperationOf<T>& operation = *nodes_[node].operation;
  return operation.deltas(l - operation.first_matrix(), flow(node, const_cast<TapeOf<T>&>(tape)));
}

template <class T>
void NetworkOf<T>::weight_gradient(std::size_t l, const TapeOf<T>& tape, LayerGradientOf<T>& gradient) const {
  const std::size_t node = node_of_matrix_.at(l);
  const OperationOf<T>& operation = *nodes_[node].operation;
  const FlowOf<T> at = flow(node, const_cast<TapeOf<T>&>(tape));
  operation.weight_gradient(l - operation.first_matrix(), at, gradient.weight);
  add_up_rows<T>(operation.deltas(l - operation.first_matrix(), at), layer(l).has_bias(), gradient.bias);
}

template <class T>
void NetworkOf<T>::set_delta(std::size_t l, const MatrixOf<T>& delta, TapeOf<T>& tape) const {
  MatrixOf<T>& to = tape.value_gradients.at(value_behind(l));
  to.resizeLike(tape.values.at(value_behind(l)));
  if (delta.size() != to.size())
    throw std::logic_error("set_delta: the shape of the deltas differs from the matrix's output");
  std::copy(delta.data(), delta.data() + delta.size(), to.data());
}

template <class T>
void NetworkOf<T>::differentiate(std::size_t from, std::size_t to, const DirectionOf<T>& direction,
                                 const TapeOf<T>& tape, std::vector<MatrixOf<T>>& tangents) const {
  if (tape.values.size() != values()) throw std::logic_error("differentiate: forward must run first");
  tangents.resize(values());
  tangents.at(from).resize(0, 0);
  for (std::size_t n = from; n < to; ++n) {
    const NetworkNode& node = nodes_.at(n);
    if (node.in < from || node.second.value_or(from) < from)
      throw std::logic_error("a block reads a value from before the block");
    const FlowOf<T> at = flow(n, const_cast<TapeOf<T>&>(tape));
    node.operation->differentiate(
        {at, tangents[node.in], node.second ? &tangents[*node.second] : nullptr, tangents[n + 1], direction});
  }
}

template <class T>
bool NetworkOf<T>::separates(std::size_t value) const {
  return std::all_of(nodes_.begin() + static_cast<std::ptrdiff_t>(value), nodes_.end(),
                     [&](const NetworkNode& node) { return node.in >= value && node.second.value_or(value) >= value; });
}

template <class T>
void NetworkOf<T>::add_embedding_gradient(std::size_t l, const TapeOf<T>& tape, Index first_sample, Index samples,
                                          MatrixOf<T>& sum) const {
  const RowsOf<T> symbols = embedding_symbols(l, tape);
  const RowsOf<T> value_gradients = embedding_deltas(l, tape);
  const Index per_sample = nodes_[node_of_matrix_.at(l)].operation->out().positions();
  for (Index row = first_sample * per_sample; row < (first_sample + samples) * per_sample; ++row) {
    sum.row(static_cast<Index>(symbols(row, 0))) += value_gradients.row(row);
  }
}

template <class T>
RowsOf<T> NetworkOf<T>::embedding_symbols(std::size_t l, const TapeOf<T>& tape) const {
  return as_rows(tape.values[nodes_[node_of_matrix_.at(l)].in], Index{1});
}

template <class T>
RowsOf<T> NetworkOf<T>::embedding_deltas(std::size_t l, const TapeOf<T>& tape) const {
  return as_rows(tape.value_gradients[node_of_matrix_.at(l) + 1], layer(l).in());
}

template <class T>
void NetworkOf<T>::update_running_statistics(const TapeOf<T>& tape) {
  if (!has_batch_statistics()) return;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    nodes_[n].operation->update_running_statistics(flow(n, const_cast<TapeOf<T>&>(tape)), parameters_);
  }
}

template <class T>
MatrixOf<T> forward_rows(const WeightsOf<T>& weights, spec::Activation activation, ConstBlockOf<T> rows,
                         MatrixOf<T>* pre_activation) {
  MatrixOf<T> output(rows.rows(), weights.out());
  multiply_transposed<T>(rows, weights.weight, weights.bias, output);
  if (pre_activation != nullptr) *pre_activation = output;
  activate(activation, output);
  return output;
}

template <class T>
void weight_gradient(ConstBlockOf<T> delta, ConstBlockOf<T> input, bool with_bias, LayerGradientOf<T>& gradient) {
  if (delta.rows() != input.rows()) throw std::logic_error("weight_gradient: Δ and A have different rows");
  gradient.weight.resize(delta.cols(), input.cols());
  multiply_by_rows<T>(delta, input, gradient.weight);
  add_up_rows<T>(delta, with_bias, gradient.bias);
}

template <class T>
LayerGradientOf<T> weight_gradient(ConstBlockOf<T> delta, ConstBlockOf<T> input, bool with_bias) {
  LayerGradientOf<T> gradient;
  weight_gradient<T>(delta, input, with_bias, gradient);
  return gradient;
}

template class NetworkOf<float>;
template class NetworkOf<double>;

template MatrixOf<float> forward_rows(const WeightsOf<float>&, spec::Activation, ConstBlockOf<float>, MatrixOf<float>*);
template MatrixOf<double> forward_rows(const WeightsOf<double>&, spec::Activation, ConstBlockOf<double>,
                                       MatrixOf<double>*);
template void weight_gradient<float>(ConstBlockOf<float>, ConstBlockOf<float>, bool, LayerGradientOf<float>&);
template void weight_gradient<double>(ConstBlockOf<double>, ConstBlockOf<double>, bool, LayerGradientOf<double>&);
template LayerGradientOf<float> weight_gradient<float>(ConstBlockOf<float>, ConstBlockOf<float>, bool);
template LayerGradientOf<double> weight_gradient<double>(ConstBlockOf<double>, ConstBlockOf<double>, bool);

}  // namespace dadsim::models
