#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/activation.hpp"
#include "models/matrix.hpp"
#include "plan/layer_shape.hpp"
#include "plan/specification.hpp"

namespace dadsim {

/// y = φ(x Wᵀ + 1 bᵀ)
template <class T>
struct DenseLayer {
  MatrixOf<T> weight;  ///< W: out × in
  VectorOf<T> bias;    ///< b: out, or empty
  Activation activation = Activation::identity;

  Eigen::Index in() const { return weight.cols(); }
  Eigen::Index out() const { return weight.rows(); }
  bool has_bias() const { return bias.size() > 0; }
};

/// dLoss/dW and dLoss/db of one layer.
template <class T>
struct LayerGradientOf {
  MatrixOf<T> weight;  ///< out × in
  VectorOf<T> bias;    ///< out, or empty
};
using LayerGradient = LayerGradientOf<float>;
using Gradient = std::vector<LayerGradient>;

/// What the passes over a batch leave behind, rows = samples. For L layers:
template <class T>
struct TapeOf {
  std::vector<MatrixOf<T>> activations;  ///< L+1: A₀ = the inputs (rows × in₁) … A_L = the logits (rows × classes)
  std::vector<MatrixOf<T>> pre_activations;  ///< L: Z of layers whose derivative needs it (GELU), else empty
  std::vector<MatrixOf<T>> deltas;           ///< L: Δ_l = dLoss/dZ_l (rows × out), filled from the last backwards
};
using Tape = TapeOf<float>;

/// A multilayer perceptron. The last layer's activation applies to the logits (identity as a rule); softmax
/// cross-entropy follows. Layers are numbered from 0.
template <class T>
class NetworkOf {
 public:
  NetworkOf() = default;
  /// Weights ~ U(−√(6/in), √(6/in)) (He, uniform) for ReLU and GELU, U(−√(6/(in+out)), …) (Glorot) otherwise; biases 0.
  NetworkOf(std::int64_t features, const ModelSpec& spec, std::uint64_t seed);

  std::size_t layers() const { return layers_.size(); }
  DenseLayer<T>& layer(std::size_t l) { return layers_[l]; }
  const DenseLayer<T>& layer(std::size_t l) const { return layers_[l]; }

  /// E.g. "MLP 784-512-10".
  std::string name() const;
  ModelShape shape() const;

  /// Fills tape.activations (and pre_activations where needed) from the inputs (rows × in₁). The tape's matrices are
  /// kept and get new memory only where their size changes; inputs that already lie in tape.activations[0] are not
  /// copied.
  void forward(const Eigen::Ref<const MatrixOf<T>>& inputs, TapeOf<T>& tape) const;

  /// Forward through one layer: returns φ(x Wᵀ + b); leaves Z in `pre_activation` if that is not null.
  MatrixOf<T> forward_layer(std::size_t l, const Eigen::Ref<const MatrixOf<T>>& input,
                            MatrixOf<T>* pre_activation) const;

  /// Δ_L of softmax cross-entropy: φ'_L ⊙ (softmax(logits) − onehot(labels)) ÷ total_rows; returns the summed loss ÷
  /// total_rows. With total_rows = rows of all sites together, the Δ of each site carry the weight N_s ÷ ΣN. Throws
  /// std::logic_error for labels that do not fit the logits.
  T loss(std::span<const std::int32_t> labels, T total_rows, TapeOf<T>& tape) const;

  /// Δ_{l−1} = (Δ_l W_l) ⊙ φ'_{l−1}, for l ≥ 1.
  void propagate(std::size_t l, TapeOf<T>& tape) const;

 private:
  std::vector<DenseLayer<T>> layers_;
};
using Network = NetworkOf<float>;

extern template class NetworkOf<float>;
extern template class NetworkOf<double>;

/// G = Δᵀ A for the given rows; bias gradient = column sums of Δ if `with_bias`.
template <class T>
LayerGradientOf<T> weight_gradient(const Eigen::Ref<const MatrixOf<T>>& delta,
                                   const Eigen::Ref<const MatrixOf<T>>& input, bool with_bias);

/// The same into memory that is kept from step to step.
template <class T>
void weight_gradient(const Eigen::Ref<const MatrixOf<T>>& delta, const Eigen::Ref<const MatrixOf<T>>& input,
                     bool with_bias, LayerGradientOf<T>& gradient);

}  // namespace dadsim
