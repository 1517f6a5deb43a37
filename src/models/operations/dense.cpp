#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/activation.hpp"
#include "models/gemm/product.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

/// y = φ(x Wᵀ + 1 bᵀ), the same at each position or over all positions together.
template <class T>
class Dense final : public OperationOf<T> {
 public:
  Dense(const spec::DenseSpec& spec, const spec::SampleShape& in, const spec::SampleShape& out, std::size_t matrix)
      : OperationOf<T>(in, out), spec_(spec), width_(spec.each_position ? in.channels : in.size()) {
    this->owns_matrices(matrix, 1);
  }

  void forward(const FlowOf<T>& flow) const override {
    const WeightsOf<T>& weights = flow.parameters.matrices[this->first_matrix()];
    flow.output.resize(flow.samples(), this->out().size());
    if (!keeps_pre_activation()) {
      multiply_transposed<T>(as_rows(flow.input, width_), weights.weight, weights.bias,
                             as_rows(flow.output, spec_.units));
      return activate(spec_.activation, flow.output);
    }
    flow.scratch.matrices.resize(1);
    MatrixOf<T>& z = flow.scratch.matrices[0];
    z.resize(flow.output.rows(), flow.output.cols());
    multiply_transposed<T>(as_rows(flow.input, width_), weights.weight, weights.bias, as_rows(z, spec_.units));
    // Processes some samples at a time, so that a copy is still cached when φ is applied.
    constexpr std::size_t kBlockValues = 16384;
    const std::size_t block = std::max<std::size_t>(1, kBlockValues / static_cast<std::size_t>(this->out().size()));
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), block, [&](std::size_t begin, std::size_t end) {
      auto y = flow.output.middleRows(begin, end - begin);
      y = z.middleRows(begin, end - begin);
      activate_block<T>(spec_.activation, y);
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    if (keeps_pre_activation()) {
      multiply_derivative(spec_.activation, flow.scratch.matrices[0], flow.value_gradient);
    } else {
      multiply_derivative_from_output(spec_.activation, flow.output, flow.value_gradient);
    }
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    multiply<T>(as_rows(flow.value_gradient, spec_.units), flow.parameters.matrices[this->first_matrix()].weight,
                as_rows(value_gradient, width_), add);
  }

  bool has_tangent() const override { return true; }
  bool gates() const override { return spec_.activation == spec::Activation::relu; }

  /// Ż = Ẋ Wᵀ + the direction's perturbation, ẏ = φ'(Z) ⊙ Ż. Weights between different groups count as zero.
  void differentiate(const TangentFlowOf<T>& tangent) const override {
    const FlowOf<T>& flow = tangent.flow;
    tangent.output.resize(flow.samples(), this->out().size());
    auto z = as_rows(tangent.output, spec_.units);
    if (tangent.input.size() == 0) {
      z.setZero();
    } else {
      const MatrixOf<T>& weight = flow.parameters.matrices[this->first_matrix()].weight;
      const auto x = as_rows(tangent.input, width_);
      const Eigen::Index groups = tangent.direction.groups;
      if (width_ % groups != 0 || spec_.units % groups != 0)
        throw std::logic_error("groups must divide the sizes of a layer");
      const Eigen::Index in = width_ / groups;
      const Eigen::Index out = spec_.units / groups;
      for (Eigen::Index g = 0; g < groups; ++g) {
        multiply_transposed<T>(x.middleCols(g * in, in), weight.block(g * out, g * in, out, in), VectorOf<T>(),
                               z.middleCols(g * out, out));
      }
    }
    if (tangent.direction.add) tangent.direction.add(this->first_matrix(), rows(0, flow), z);
    if (keeps_pre_activation()) {
      multiply_derivative(spec_.activation, flow.scratch.matrices[0], tangent.output);
    } else {
      multiply_derivative_from_output(spec_.activation, flow.output, tangent.output);
    }
  }

  RowsOf<T> rows(std::size_t, const FlowOf<T>& flow) const override { return as_rows(flow.input, width_); }
  RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(std::as_const(flow.value_gradient), spec_.units);
  }

 private:
  bool keeps_pre_activation() const { return !derivative_from_output(spec_.activation); }

  spec::DenseSpec spec_;
  std::int64_t width_;
};

}  // namespace

template <class T>
OperationPointer<T> make_dense(const spec::DenseSpec& spec, const spec::SampleShape& in,
                               ParameterBuilder<T>& parameters) {
  const std::int64_t width = spec.each_position ? in.channels : in.size();
  const bool half_passes = spec.activation == spec::Activation::relu || spec.activation == spec::Activation::gelu;
  const double limit = spec.initial_limit.value_or(initial_limit(half_passes, width, spec.units));
  const std::size_t matrix = parameters.matrix(spec.units, width, spec.bias, limit);
  const spec::SampleShape out =
      spec.each_position ? spec::SampleShape{in.height, in.width, spec.units} : spec::SampleShape{1, 1, spec.units};
  return std::make_shared<Dense<T>>(spec, in, out, matrix);
}

template OperationPointer<float> make_dense(const spec::DenseSpec&, const spec::SampleShape&, ParameterBuilder<float>&);
template OperationPointer<double> make_dense(const spec::DenseSpec&, const spec::SampleShape&,
                                             ParameterBuilder<double>&);

}  // namespace dadsim::models
