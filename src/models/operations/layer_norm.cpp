#include <cmath>

#include "models/operations/column_sums.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// Layer normalisation (Ba, Kiros, Hinton, arXiv:1607.06450) over the c channels of each position:
///     x̂ = (x − mean(x)) ÷ √(var(x) + ε), y = gain ⊙ x̂ + shift
/// with the variance ÷ c. Vectors: gain (c, from 1) and shift (c, from 0). With g = gain ⊙ dLoss/dy:
///     dLoss/dx = (g − mean(g) − x̂ mean(g ⊙ x̂)) ÷ √(var(x) + ε)
/// and forwards
///     ẏ = gain ⊙ (ẋ − mean(ẋ) − x̂ mean(ẋ ⊙ x̂)) ÷ √(var(x) + ε)
/// where the tangents of other groups count as zero in both means.
template <class T>
class LayerNorm final : public OperationOf<T> {
 public:
  LayerNorm(const spec::LayerNormSpec& spec, const spec::SampleShape& in, std::size_t gain, std::size_t shift)
      : OperationOf<T>(in, in),
        channels_(in.channels),
        epsilon_(static_cast<T>(spec.epsilon)),
        gain_(gain),
        shift_(shift) {
    this->owns_vectors();
  }

  void forward(const FlowOf<T>& flow) const override {
    flow.output.resize(flow.input.rows(), flow.input.cols());
    flow.scratch.matrices.resize(3);
    MatrixOf<T>& means = flow.scratch.matrices[kMeans];
    MatrixOf<T>& scales = flow.scratch.matrices[kScales];
    const auto x = as_rows(flow.input, channels_);
    auto y = as_rows(flow.output, channels_);
    means.resize(x.rows(), 1);
    scales.resize(x.rows(), 1);
    const auto gain = flow.parameters.vectors[gain_].transpose().array();
    const auto shift = flow.parameters.vectors[shift_].transpose().array();
    for_rows(x.rows(), [&](Index row) {
      const T mean = x.row(row).mean();
      auto out = y.row(row).array();
      out = x.row(row).array() - mean;
      const T scale = T(1) / std::sqrt(out.square().mean() + epsilon_);
      out = out * scale * gain + shift;
      means(row) = mean;
      scales(row) = scale;
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    const MatrixOf<T>& means = flow.scratch.matrices[kMeans];
    const MatrixOf<T>& scales = flow.scratch.matrices[kScales];
    const auto x = as_rows(flow.input, channels_);
    const auto dy = as_rows(std::as_const(flow.value_gradient), channels_);
    VectorOf<T> sums;
    sum_over_rows(dy.rows(), 2 * channels_, flow.scratch.matrices[kSums], sums, [&](Index begin, Index end, auto part) {
      auto gain = part.head(channels_).array();
      auto shift = part.tail(channels_).array();
      for (Index row = begin; row < end; ++row) {
        gain += dy.row(row).array() * ((x.row(row).array() - means(row)) * scales(row));
        shift += dy.row(row).array();
      }
    });
    flow.vector_gradients[gain_] = sums.head(channels_);
    flow.vector_gradients[shift_] = sums.tail(channels_);
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    const MatrixOf<T>& means = flow.scratch.matrices[kMeans];
    const MatrixOf<T>& scales = flow.scratch.matrices[kScales];
    value_gradient.resize(flow.input.rows(), flow.input.cols());
    const auto x = as_rows(flow.input, channels_);
    const auto dy = as_rows(std::as_const(flow.value_gradient), channels_);
    auto dx = as_rows(value_gradient, channels_);
    const auto gain = flow.parameters.vectors[gain_].transpose().array();
    for_rows(x.rows(), [&](Index row) {
      const auto normal = (x.row(row).array() - means(row)) * scales(row);
      const auto g = dy.row(row).array() * gain;
      const T mean = g.mean();
      const T along = (g * normal).mean();
      const auto result = (g - mean - normal * along) * scales(row);
      if (add) {
        dx.row(row).array() += result;
      } else {
        dx.row(row).array() = result;
      }
    });
  }

  bool has_tangent() const override { return true; }

  void differentiate(const TangentFlowOf<T>& tangent) const override {
    const MatrixOf<T>& means = tangent.flow.scratch.matrices[kMeans];
    const MatrixOf<T>& scales = tangent.flow.scratch.matrices[kScales];
    tangent.output.resize(tangent.input.rows(), tangent.input.cols());
    if (tangent.input.size() == 0) return;
    const Index size = channels_ / tangent.direction.groups;
    const auto x = as_rows(tangent.flow.input, channels_);
    const auto dx = as_rows(tangent.input, channels_);
    auto dy = as_rows(tangent.output, channels_);
    const auto gain = tangent.flow.parameters.vectors[gain_].transpose().array();
    for_rows(x.rows(), [&](Index row) {
      for (Index begin = 0; begin < channels_; begin += size) {
        const auto normal = (x.row(row).segment(begin, size).array() - means(row)) * scales(row);
        const auto moved = dx.row(row).segment(begin, size).array();
        const T mean = moved.sum() / static_cast<T>(channels_);
        const T along = (moved * normal).sum() / static_cast<T>(channels_);
        dy.row(row).segment(begin, size).array() =
            gain.segment(begin, size) * (moved - mean - normal * along) * scales(row);
      }
    });
  }

 private:
  // Indices into ScratchOf::matrices.
  static constexpr std::size_t kMeans = 0;   // means, rows × 1
  static constexpr std::size_t kScales = 1;  // rows × 1: 1 ÷ √(var(x) + ε)
  static constexpr std::size_t kSums = 2;

  template <class Body>
  static void for_rows(Index rows, const Body& body) {
    parallel_for_blocks(static_cast<std::size_t>(rows), kSumRows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) body(static_cast<Index>(row));
    });
  }

  Index channels_;
  T epsilon_;
  std::size_t gain_, shift_;
};

}  // namespace

template <class T>
OperationPointer<T> make_layer_norm(const spec::LayerNormSpec& spec, const spec::SampleShape& in,
                                    ParameterBuilder<T>& parameters) {
  const std::size_t gain = parameters.vector(VectorOf<T>::Ones(in.channels));
  const std::size_t shift = parameters.vector(VectorOf<T>::Zero(in.channels));
  return std::make_shared<LayerNorm<T>>(spec, in, gain, shift);
}

template OperationPointer<float> make_layer_norm(const spec::LayerNormSpec&, const spec::SampleShape&,
                                                 ParameterBuilder<float>&);
template OperationPointer<double> make_layer_norm(const spec::LayerNormSpec&, const spec::SampleShape&,
                                                  ParameterBuilder<double>&);

}  // namespace dadsim::models
