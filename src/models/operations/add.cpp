#include "models/activation.hpp"
#include "models/operations/operations.hpp"

namespace dadsim {
namespace {

/// y = φ(x + second)
template <class T>
class Add final : public OperationOf<T> {
 public:
  Add(Activation activation, const SampleShape& in) : OperationOf<T>(in, in), activation_(activation) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output = flow.input + *flow.second;
    if (keeps_pre_activation()) {
      flow.scratch.matrices.resize(1);
      flow.scratch.matrices[0] = flow.output;
    }
    activate(activation_, flow.output);
  }

  void backward(const FlowOf<T>& flow) const override {
    if (keeps_pre_activation()) {
      multiply_derivative(activation_, flow.scratch.matrices[0], flow.slope);
    } else {
      multiply_derivative_from_output(activation_, flow.output, flow.slope);
    }
  }

  void propagate(const FlowOf<T>& flow, MatrixOf<T>& slope, bool add) const override { pass_on(flow, slope, add); }
  void propagate_second(const FlowOf<T>& flow, MatrixOf<T>& slope, bool add) const override {
    pass_on(flow, slope, add);
  }

 private:
  bool keeps_pre_activation() const { return !derivative_from_output(activation_); }

  static void pass_on(const FlowOf<T>& flow, MatrixOf<T>& slope, bool add) {
    if (add) {
      slope += flow.slope;
    } else {
      slope = flow.slope;
    }
  }

  Activation activation_;
};

}  // namespace

template <class T>
OperationPointer<T> make_add(Activation activation, const SampleShape& in) {
  return std::make_shared<Add<T>>(activation, in);
}

template OperationPointer<float> make_add(Activation, const SampleShape&);
template OperationPointer<double> make_add(Activation, const SampleShape&);

}  // namespace dadsim
