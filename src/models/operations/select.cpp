#include "models/operations/operations.hpp"

namespace dadsim::models {
namespace {

/// y = x at the first or the last position.
template <class T>
class Select final : public OperationOf<T> {
 public:
  Select(const spec::SelectSpec& spec, const spec::SampleShape& in)
      : OperationOf<T>(in, spec::SampleShape{1, 1, in.channels}), first_(spec.last ? in.size() - in.channels : 0) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output = flow.input.middleCols(first_, this->in().channels);
  }

  void backward(const FlowOf<T>&) const override {}

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    if (!add) value_gradient.setZero(flow.samples(), this->in().size());
    value_gradient.middleCols(first_, this->in().channels) += flow.value_gradient;
  }

 private:
  Eigen::Index first_;  // first column of the selected position
};

}  // namespace

template <class T>
OperationPointer<T> make_select(const spec::SelectSpec& spec, const spec::SampleShape& in) {
  return std::make_shared<Select<T>>(spec, in);
}

template OperationPointer<float> make_select(const spec::SelectSpec&, const spec::SampleShape&);
template OperationPointer<double> make_select(const spec::SelectSpec&, const spec::SampleShape&);

}  // namespace dadsim::models
