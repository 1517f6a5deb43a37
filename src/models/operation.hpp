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
  MatrixOf<T> weight;      ///< weights, out × in
  VectorOf<T> bias;        ///< biases, out; or empty
  bool embedding = false;  ///< true: an embedding table of entries × width, whose rows are looked up instead of
                           ///< multiplied

  Eigen::Index in() const { return weight.cols(); }
  Eigen::Index out() const { return weight.rows(); }
  bool has_bias() const { return bias.size() > 0; }
};

/// All learned parameters of a network.
template <class T>
struct ParametersOf {
  std::vector<WeightsOf<T>> matrices;  ///< matrices in the order of the forward pass
  std::vector<VectorOf<T>> vectors;    ///< parameters whose gradient is no outer product: gains and shifts of norms,
                                       ///< positions …
  std::vector<VectorOf<double>> averages;  ///< running statistics of batch norms, which have no gradient
};

/// Settings of a pass.
struct Pass {
  bool training = false;  ///< true: dropout drops values, and batch norms use the statistics of each site's samples
  /// First sample of each site, and the end of the last one; empty: all samples belong to one site.
  std::span<const Eigen::Index> sites = {};
  std::uint64_t seed = 0;  ///< seed of dropout's masks, together with the step
  std::uint32_t step = 0;
};

/// Values that an operation keeps from its forward pass for its backward pass.
template <class T>
struct ScratchOf {
  std::vector<MatrixOf<T>> matrices;
  std::vector<std::int32_t> indices;
};

/// Arguments of an operation. Values are samples × SampleShape::size(). Positions of a sample are contiguous, so the
/// same memory is a matrix of (samples × positions) rows × channels.
template <class T>
struct FlowOf {
  const ParametersOf<T>& parameters;
  const Pass& pass;
  const MatrixOf<T>& input;
  const MatrixOf<T>* second = nullptr;  ///< second input of a sum; otherwise null
  MatrixOf<T>& output;
  MatrixOf<T>& value_gradient;  ///< dLoss/doutput in the backward pass; an operation may change it in place (into Δ)
  ScratchOf<T>& scratch;
  std::vector<VectorOf<T>>& vector_gradients;  ///< dLoss/dvectors, summed over all samples; laid out as
                                               ///< parameters.vectors

  Eigen::Index samples() const { return input.rows(); }
};

/// View of rows of channels; does not own their memory.
template <class T>
using RowsOf = Eigen::Map<const MatrixOf<T>>;
template <class T>
using MutableRowsOf = Eigen::Map<MatrixOf<T>>;

/// Returns values as a view with rows of `columns` numbers.
template <class T>
RowsOf<T> as_rows(const MatrixOf<T>& values, Eigen::Index columns) {
  return {values.data(), values.size() / columns, columns};
}
template <class T>
MutableRowsOf<T> as_rows(MatrixOf<T>& values, Eigen::Index columns) {
  return {values.data(), values.size() / columns, columns};
}

/// A direction of a forward derivative (JVP): it perturbs the pre-activations of matrices.
template <class T>
struct DirectionOf {
  /// Adds the direction's perturbation to Ż of matrix l (rows × out): u for perturbed pre-activations, A Vᵀ for
  /// perturbed weights; `rows` is A. The tangent of the matrix's input is added elsewhere.
  std::function<void(std::size_t l, const RowsOf<T>& rows, MutableRowsOf<T>& tangent)> add;
  /// Number of equal groups of channels; tangents do not mix between groups.
  Eigen::Index groups = 1;
};

/// Arguments of an operation's forward derivative along a direction. The forward pass must come first.
template <class T>
struct TangentFlowOf {
  const FlowOf<T>& flow;
  const MatrixOf<T>& input;             ///< ẋ, samples × in().size(); empty: zero
  const MatrixOf<T>* second = nullptr;  ///< tangent of the second input of a sum
  MatrixOf<T>& output;                  ///< ẏ, to be filled in; empty: zero
  const DirectionOf<T>& direction;
};

/// One operation of a network: y = f(x). Weights are in ParametersOf, and values for the backward pass in ScratchOf:
/// the operation has no state, and several passes may use it at once.
///
/// The backward pass calls backward() and then backpropagate(), from the last operation to the first. Between the two
/// calls, algorithms read the rows A and Δ of its matrices. Rows of both are ordered by sample and then by position, so
/// that dLoss/dW = Δᵀ A.
///
/// *Ensures* the same bits for any number of threads. A sample's values depend on samples of the same site alone.
template <class T>
class OperationOf {
 public:
  OperationOf(const spec::SampleShape& in, const spec::SampleShape& out) : in_(in), out_(out) {}
  virtual ~OperationOf() = default;
  const spec::SampleShape& in() const { return in_; }
  const spec::SampleShape& out() const { return out_; }

  /// Computes flow.output (samples × out().size()).
  virtual void forward(const FlowOf<T>& flow) const = 0;
  /// Computes from flow.value_gradient the Δ of its matrices and the gradients of its vectors, which are overwritten.
  virtual void backward(const FlowOf<T>& flow) const = 0;
  /// Computes dLoss/dx of the first input (or of `second`) into `value_gradient` (samples × in().size()), or adds it
  /// there if `add`.
  virtual void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const = 0;
  virtual void backpropagate_second(const FlowOf<T>&, MatrixOf<T>&, bool) const {}

  /// Returns whether the operation has a forward derivative.
  virtual bool has_tangent() const { return false; }
  /// Computes ẏ = (∂f/∂x) ẋ + the direction's perturbation; only if has_tangent().
  virtual void differentiate(const TangentFlowOf<T>&) const {
    throw std::logic_error("the operation has no forward derivative");
  }
  /// Returns whether the activation has slope 1 or 0 (ReLU), so that gradients are zero wherever y = 0.
  virtual bool gates() const { return false; }

  /// Returns the index of its first matrix in ParametersOf::matrices; it owns `matrices()` of them.
  std::size_t first_matrix() const { return first_matrix_; }
  std::size_t matrices() const { return matrices_; }
  /// Returns whether the operation has parameters.
  bool learns() const { return matrices_ > 0 || vectors_; }
  /// Returns A of the operation's k-th matrix. The rows may be formed only now: weight_gradient() need not use them.
  virtual RowsOf<T> rows(std::size_t, const FlowOf<T>& flow) const { return as_rows(flow.input, in_.channels); }
  /// Returns Δ of the operation's k-th matrix, after backward().
  virtual RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const {
    return as_rows(std::as_const(flow.value_gradient), out_.channels);
  }
  /// Computes Δᵀ A of the operation's k-th matrix over all samples into `gradient` (out × in), after backward().
  virtual void weight_gradient(std::size_t k, const FlowOf<T>& flow, MatrixOf<T>& gradient) const {
    const RowsOf<T> delta = deltas(k, flow);
    const RowsOf<T> input = rows(k, flow);
    gradient.resize(delta.cols(), input.cols());
    multiply_by_rows<T>(delta, input, gradient);
  }

  /// Updates the running statistics from a training pass.
  virtual void update_running_statistics(const FlowOf<T>&, ParametersOf<T>&) const {}
  /// Returns whether the operation has running statistics.
  virtual bool is_batch_norm() const { return false; }

 protected:
  void owns_matrices(std::size_t first, std::size_t count) { first_matrix_ = first, matrices_ = count; }
  void owns_vectors() { vectors_ = true; }

 private:
  spec::SampleShape in_, out_;
  std::size_t first_matrix_ = 0, matrices_ = 0;
  bool vectors_ = false;
};

/// Creates the parameters of a network's operations, with initial values that depend only on the seed and on the
/// parameter's position in the network.
template <class T>
class ParameterBuilder {
 public:
  ParameterBuilder(ParametersOf<T>& parameters, std::uint64_t seed) : parameters_(parameters), seed_(seed) {}

  /// Adds a matrix of out × in, entries ~ U(−limit, limit), biases 0. Returns its number.
  std::size_t matrix(std::int64_t out, std::int64_t in, bool bias, double limit);
  /// Adds a table, entries ~ N(0, deviation²).
  std::size_t embedding(std::int64_t entries, std::int64_t width, double deviation);
  std::size_t vector(VectorOf<T> initial);
  /// Adds a vector, entries ~ N(0, deviation²).
  std::size_t vector(std::int64_t size, double deviation);
  std::size_t average(VectorOf<double> initial);

 private:
  ParametersOf<T>& parameters_;
  std::uint64_t seed_;
};

/// Returns the bound of uniform initial weights: √(6/in) if half of the values are cut off (ReLU, GELU; He et al.,
/// arXiv 1502.01852), √(6/(in+out)) otherwise (Glorot & Bengio, AISTATS 2010).
double initial_limit(bool half_passes, std::int64_t in, std::int64_t out);

extern template class ParameterBuilder<float>;
extern template class ParameterBuilder<double>;

}  // namespace dadsim::models
