#include "models/operations/operations.hpp"

namespace dadsim {
namespace {

/// y = x at the first or the last position.
template <class T>
class Select final : public OperationOf<T> {
 public:
  Select(const SelectSpec& spec, const SampleShape& in)
      : OperationOf<T>(in, SampleShape{1, 1, in.channels}), first_(spec.last ? in.size() - in.channels : 0) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output = flow.input.middleCols(first_, this->in().channels);
  }

  void backward(const FlowOf<T>&) const override {}

  void propagate(const FlowOf<T>& flow, MatrixOf<T>& slope, bool add) const override {
    if (!add) slope.setZero(flow.samples(), this->in().size());
    slope.middleCols(first_, this->in().channels) += flow.slope;
  }

 private:
  Eigen::Index first_;  // column
};

}  // namespace

template <class T>
OperationPointer<T> make_select(const SelectSpec& spec, const SampleShape& in) {
  return std::make_shared<Select<T>>(spec, in);
}

template OperationPointer<float> make_select(const SelectSpec&, const SampleShape&);
template OperationPointer<double> make_select(const SelectSpec&, const SampleShape&);

}  // namespace dadsim
