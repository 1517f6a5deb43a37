#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/gemm/product.hpp"
#include "models/matrix.hpp"
#include "spec/sample_shape.hpp"
#include "support/random.hpp"

namespace dadsim::models {

/// A weight matrix with its biases.
template <class T>
struct WeightsOf {
  MatrixOf<T> weight;      ///< out × in
  VectorOf<T> bias;        ///< out, or empty
  bool embedding = false;  ///< rows are looked up, not multiplied with: an embedding's entries × width

  Eigen::Index in() const { return weight.cols(); }
  Eigen::Index out() const { return weight.rows(); }
  bool has_bias() const { return bias.size() > 0; }
};

/// Everything that a network has learned.
template <class T>
struct ParametersOf {
  std::vector<WeightsOf<T>> matrices;      ///< in the order of the forward pass
  std::vector<VectorOf<T>> vectors;        ///< what has no outer product: gains and shifts of norms, positions …
  std::vector<VectorOf<double>> averages;  ///< running statistics of batch norms: followed, not learned
};

/// How a pass is made.
struct Pass {
  bool training = false;  ///< dropout drops; batch norms use the statistics of each site's samples
  /// Where the samples of each site begin, and behind the last one where they end; empty: all belong to one site.
  std::span<const Eigen::Index> sites = {};
  std::uint64_t seed = 0;  ///< of dropout's masks, with the step
  std::uint32_t step = 0;
};

/// What an operation keeps from its forward pass for its backward pass.
template <class T>
struct ScratchOf {
  std::vector<MatrixOf<T>> matrices;
  std::vector<std::int32_t> indices;
};

/// What an operation works on. Values are samples × SampleShape::size(): a sample's positions follow each other, so
/// that the same memory is (samples × positions) rows of channels.
template <class T>
struct FlowOf {
  const ParametersOf<T>& parameters;
  const Pass& pass;
  const MatrixOf<T>& input;
  const MatrixOf<T>* second = nullptr;  ///< the other input of a sum
  MatrixOf<T>& output;
  MatrixOf<T>& value_gradient;  ///< dLoss/doutput in the backward pass; an operation may change it in place (into Δ)
  ScratchOf<T>& scratch;
  std::vector<VectorOf<T>>& vector_gradients;  ///< dLoss/dvectors, summed over all samples; as parameters.vectors

  Eigen::Index samples() const { return input.rows(); }
};

/// Rows of channels in memory that it does not own.
template <class T>
using RowsOf = Eigen::Map<const MatrixOf<T>>;
template <class T>
using MutableRowsOf = Eigen::Map<MatrixOf<T>>;

/// Values as rows of `columns` numbers.
template <class T>
RowsOf<T> as_rows(const MatrixOf<T>& values, Eigen::Index columns) {
  return {values.data(), values.size() / columns, columns};
}
template <class T>
MutableRowsOf<T> as_rows(MatrixOf<T>& values, Eigen::Index columns) {
  return {values.data(), values.size() / columns, columns};
}

/// A direction along which a network is differentiated; it perturbs pre-activations.
template <class T>
struct DirectionOf {
  /// Adds to Ż of matrix l (rows × out) what moves it beside the tangent of its input: u where pre-activations are
  /// perturbed, A Vᵀ where weights are; `rows` is A.
  std::function<void(std::size_t l, const RowsOf<T>& rows, MutableRowsOf<T>& tangent)> add;
  /// Channels are this many groups of the same size, and the tangent of one does not pass into another.
  Eigen::Index groups = 1;
};

/// What an operation differentiates along a direction, once its forward pass has been made.
template <class T>
struct TangentFlowOf {
  const FlowOf<T>& flow;
  const MatrixOf<T>& input;             ///< ẋ, samples × in().size(); empty: zero
  const MatrixOf<T>* second = nullptr;  ///< of the other input of a sum
  MatrixOf<T>& output;                  ///< ẏ, to be filled; left empty: zero
  const DirectionOf<T>& direction;
};

/// One operation of a network: y = f(x), without a state of its own (weights lie in ParametersOf, what the backward
/// pass needs in ScratchOf), so that the same operation serves any number of passes at once.
///
/// The backward pass calls, from the last operation to the first, backward() and then backpropagate(). Where the
/// operation has matrices, the algorithms take their rows (A and Δ) between the two: rows are ordered by sample and,
/// within one, by position, alike in A and Δ, so that dLoss/dW = Δᵀ A.
///
/// *Ensures*: the same bits for any number of threads; a sample's values depend on the samples of its site alone.
template <class T>
class OperationOf {
 public:
  OperationOf(const spec::SampleShape& in, const spec::SampleShape& out) : in_(in), out_(out) {}
  virtual ~OperationOf() = default;
  const spec::SampleShape& in() const { return in_; }
  const spec::SampleShape& out() const { return out_; }

  /// Fills flow.output (samples × out().size()).
  virtual void forward(const FlowOf<T>& flow) const = 0;
  /// From flow.value_gradient: Δ of its matrices and the gradients of its vectors (to be assigned).
  virtual void backward(const FlowOf<T>& flow) const = 0;
  /// dLoss/dx of the first input (or of the `second`) into `value_gradient` (samples × in().size()), added to it if
  /// `add`.
  virtual void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const = 0;
  virtual void backpropagate_second(const FlowOf<T>&, MatrixOf<T>&, bool) const {}

  /// Whether it can be differentiated forwards.
  virtual bool has_tangent() const { return false; }
  /// ẏ = (∂f/∂x) ẋ + what the direction adds; only where has_tangent().
  virtual void differentiate(const TangentFlowOf<T>&) const {
    throw std::logic_error("an operation without a forward derivative");
  }
  /// Whether its activation lets pre-activations through as they are or not at all (ReLU): those with y = 0 pass
  /// nothing on.
  virtual bool gates() const { return false; }

  /// Matrices that it owns: `count` of them from `first` on in ParametersOf::matrices.
  std::size_t first_matrix() const { return first_matrix_; }
  std::size_t matrices() const { return matrices_; }
  /// Whether it has parameters of its own.
  bool learns() const { return matrices_ > 0 || vectors_; }
  /// A and Δ of its k-th matrix; Δ once backward() has been called. An operation may first make A when it is asked
  /// for, so that weight_gradient() costs less than what it could be formed of here.
  virtual RowsOf<T> rows(std::size_t, const FlowOf<T>& flow) const { return as_rows(flow.input, in_.channels); }
  virtual RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const {
    return as_rows(std::as_const(flow.value_gradient), out_.channels);
  }
  /// Δᵀ A of its k-th matrix over all samples into `gradient` (out × in), once backward() has been called.
  virtual void weight_gradient(std::size_t k, const FlowOf<T>& flow, MatrixOf<T>& gradient) const {
    const RowsOf<T> delta = deltas(k, flow);
    const RowsOf<T> input = rows(k, flow);
    gradient.resize(delta.cols(), input.cols());
    multiply_by_rows<T>(delta, input, gradient);
  }

  /// Takes the statistics of a training pass into the running ones.
  virtual void update_running_statistics(const FlowOf<T>&, ParametersOf<T>&) const {}
  /// Whether it normalises by such statistics.
  virtual bool is_batch_norm() const { return false; }

 protected:
  void owns_matrices(std::size_t first, std::size_t count) { first_matrix_ = first, matrices_ = count; }
  void owns_vectors() { vectors_ = true; }

 private:
  spec::SampleShape in_, out_;
  std::size_t first_matrix_ = 0, matrices_ = 0;
  bool vectors_ = false;
};

/// Gives the operations of a network their parameters, with initial values that depend on the seed and on the place of
/// the parameter in the network alone.
template <class T>
class ParameterBuilder {
 public:
  ParameterBuilder(ParametersOf<T>& parameters, std::uint64_t seed) : parameters_(parameters), seed_(seed) {}

  /// out × in, entries ~ U(−limit, limit), biases 0. Returns its number.
  std::size_t matrix(std::int64_t out, std::int64_t in, bool bias, double limit);
  /// A table, entries ~ N(0, deviation²).
  std::size_t embedding(std::int64_t entries, std::int64_t width, double deviation);
  std::size_t vector(VectorOf<T> initial);
  /// Entries ~ N(0, deviation²).
  std::size_t vector(std::int64_t size, double deviation);
  std::size_t average(VectorOf<double> initial);

 private:
  ParametersOf<T>& parameters_;
  std::uint64_t seed_;
};

/// The bound of uniform initial weights: √(6/in) where half of what passes is cut off (ReLU, GELU; He et al., arXiv
/// 1502.01852), √(6/(in+out)) otherwise (Glorot & Bengio, AISTATS 2010).
double initial_limit(bool half_passes, std::int64_t in, std::int64_t out);

extern template class ParameterBuilder<float>;
extern template class ParameterBuilder<double>;

}  // namespace dadsim::models
