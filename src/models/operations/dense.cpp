#include <utility>

#include "models/activation.hpp"
#include "models/operations/operations.hpp"
#include "models/product.hpp"

namespace dadsim {
namespace {

/// y = φ(x Wᵀ + 1 bᵀ), the same at each position or over all positions together.
template <class T>
class Dense final : public OperationOf<T> {
 public:
  Dense(const DenseSpec& spec, const SampleShape& in, const SampleShape& out, std::size_t matrix)
      : OperationOf<T>(in, out), spec_(spec), width_(spec.each_position ? in.channels : in.size()) {
    this->owns_matrices(matrix, 1);
  }

  void forward(const FlowOf<T>& flow) const override {
    const WeightsOf<T>& weights = flow.parameters.matrices[this->first_matrix()];
    flow.output.resize(flow.samples(), this->out().size());
    auto y = as_rows(flow.output, spec_.units);
    multiply_transposed<T>(as_rows(flow.input, width_), weights.weight, weights.bias, y);
    if (keeps_pre_activation()) {
      flow.scratch.matrices.resize(1);
      flow.scratch.matrices[0] = flow.output;
    }
    activate(spec_.activation, flow.output);
  }

  void backward(const FlowOf<T>& flow) const override {
    if (keeps_pre_activation()) {
      multiply_derivative(spec_.activation, flow.scratch.matrices[0], flow.slope);
    } else {
      multiply_derivative_from_output(spec_.activation, flow.output, flow.slope);
    }
  }

  void propagate(const FlowOf<T>& flow, MatrixOf<T>& slope, bool add) const override {
    slope.resize(flow.samples(), this->in().size());
    multiply<T>(as_rows(flow.slope, spec_.units), flow.parameters.matrices[this->first_matrix()].weight,
                as_rows(slope, width_), add);
  }

  RowsOf<T> rows(std::size_t, const FlowOf<T>& flow) const override { return as_rows(flow.input, width_); }
  RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(std::as_const(flow.slope), spec_.units);
  }

 private:
  bool keeps_pre_activation() const { return !derivative_from_output(spec_.activation); }

  DenseSpec spec_;
  std::int64_t width_;
};

}  // namespace

template <class T>
OperationPointer<T> make_dense(const DenseSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters) {
  const std::int64_t width = spec.each_position ? in.channels : in.size();
  const bool half_passes = spec.activation == Activation::relu || spec.activation == Activation::gelu;
  const std::size_t matrix =
      parameters.matrix(spec.units, width, spec.bias, initial_limit(half_passes, width, spec.units));
  const SampleShape out =
      spec.each_position ? SampleShape{in.height, in.width, spec.units} : SampleShape{1, 1, spec.units};
  return std::make_shared<Dense<T>>(spec, in, out, matrix);
}

template OperationPointer<float> make_dense(const DenseSpec&, const SampleShape&, ParameterBuilder<float>&);
template OperationPointer<double> make_dense(const DenseSpec&, const SampleShape&, ParameterBuilder<double>&);

}  // namespace dadsim
