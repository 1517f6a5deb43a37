#include "models/operations/column_sums.hpp"
#include "models/operations/operations.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// y = (token, x): a learned position before those of each sample (Devlin et al., BERT, arXiv:1810.04805; for images
/// Dosovitskiy et al., arXiv:2010.11929). dLoss/dtoken is the sum of the value_gradients of the first position.
template <class T>
class ClassToken final : public OperationOf<T> {
 public:
  ClassToken(const spec::SampleShape& in, const spec::SampleShape& out, std::size_t vector)
      : OperationOf<T>(in, out), vector_(vector) {
    this->owns_vectors();
  }

  void forward(const FlowOf<T>& flow) const override {
    flow.output.resize(flow.samples(), this->out().size());
    flow.output.leftCols(this->in().channels).rowwise() = flow.parameters.vectors[vector_].transpose();
    flow.output.rightCols(this->in().size()) = flow.input;
  }

  void backward(const FlowOf<T>& flow) const override {
    flow.scratch.matrices.resize(1);
    const auto value_gradient = flow.value_gradient.leftCols(this->in().channels);
    sum_over_rows(value_gradient.rows(), value_gradient.cols(), flow.scratch.matrices[0],
                  flow.vector_gradients[vector_], [&](Index begin, Index end, auto part) {
                    for (Index row = begin; row < end; ++row) part += value_gradient.row(row);
                  });
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    const auto rest = flow.value_gradient.rightCols(this->in().size());
    if (add) {
      value_gradient += rest;
    } else {
      value_gradient = rest;
    }
  }

 private:
  std::size_t vector_;
};

}  // namespace

template <class T>
OperationPointer<T> make_class_token(const spec::SampleShape& in, ParameterBuilder<T>& parameters) {
  const spec::SampleShape out{1, in.positions() + 1, in.channels};
  const std::size_t vector = parameters.vector(in.channels, 0.02);  // standard deviation 0.02, as in BERT for [CLS]
  return std::make_shared<ClassToken<T>>(in, out, vector);
}

template OperationPointer<float> make_class_token(const spec::SampleShape&, ParameterBuilder<float>&);
template OperationPointer<double> make_class_token(const spec::SampleShape&, ParameterBuilder<double>&);

}  // namespace dadsim::models
