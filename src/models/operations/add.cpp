#include <algorithm>
#include <cstddef>

#include "models/activation.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

/// y = φ(x + second)
template <class T>
class Add final : public OperationOf<T> {
 public:
  Add(spec::Activation activation, const spec::SampleShape& in) : OperationOf<T>(in, in), activation_(activation) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output.resize(flow.input.rows(), flow.input.cols());
    if (keeps_pre_activation()) {
      flow.scratch.matrices.resize(1);
      flow.scratch.matrices[0].resize(flow.output.rows(), flow.output.cols());
    }
    // Processes some samples at a time, so that the sum is still cached when φ is applied.
    constexpr std::size_t kBlockValues = 16384;
    const std::size_t block = std::max<std::size_t>(1, kBlockValues / static_cast<std::size_t>(this->out().size()));
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), block, [&](std::size_t begin, std::size_t end) {
      auto y = flow.output.middleRows(begin, end - begin);
      y = flow.input.middleRows(begin, end - begin) + flow.second->middleRows(begin, end - begin);
      if (keeps_pre_activation()) flow.scratch.matrices[0].middleRows(begin, end - begin) = y;
      activate_block<T>(activation_, y);
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    if (keeps_pre_activation()) {
      multiply_derivative(activation_, flow.scratch.matrices[0], flow.value_gradient);
    } else {
      multiply_derivative_from_output(activation_, flow.output, flow.value_gradient);
    }
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    pass_on(flow, value_gradient, add);
  }
  /// Must be called last: unless it adds, it moves the gradient instead of copying it.
  void backpropagate_second(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    if (add) {
      value_gradient += flow.value_gradient;
    } else {
      value_gradient.swap(flow.value_gradient);
    }
  }

  bool has_tangent() const override { return true; }

  /// ẏ = φ'(x + second) ⊙ (ẋ + tangent of `second`)
  void differentiate(const TangentFlowOf<T>& tangent) const override {
    const MatrixOf<T>& one = tangent.input.size() > 0 ? tangent.input : *tangent.second;
    tangent.output = one;
    if (one.size() == 0) return;
    if (&one == &tangent.input && tangent.second->size() > 0) tangent.output += *tangent.second;
    if (keeps_pre_activation()) {
      multiply_derivative(activation_, tangent.flow.scratch.matrices[0], tangent.output);
    } else {
      multiply_derivative_from_output(activation_, tangent.flow.output, tangent.output);
    }
  }

 private:
  bool keeps_pre_activation() const { return !derivative_from_output(activation_); }

  static void pass_on(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) {
    if (add) {
      value_gradient += flow.value_gradient;
    } else {
      value_gradient = flow.value_gradient;
    }
  }

  spec::Activation activation_;
};

}  // namespace

template <class T>
OperationPointer<T> make_add(spec::Activation activation, const spec::SampleShape& in) {
  return std::make_shared<Add<T>>(activation, in);
}

template OperationPointer<float> make_add(spec::Activation, const spec::SampleShape&);
template OperationPointer<double> make_add(spec::Activation, const spec::SampleShape&);

}  // namespace dadsim::models
