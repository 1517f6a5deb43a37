#include "models/operations/column_sums.hpp"
#include "models/operations/operations.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// y = x + p, with p (positions · channels) the same for all samples: learned positions (Gehring et al., ICML 2017,
/// arXiv:1705.03122; as in BERT and GPT-2). dLoss/dp is the sum of the value_gradients over samples.
template <class T>
class Positions final : public OperationOf<T> {
 public:
  Positions(const spec::SampleShape& in, std::size_t vector) : OperationOf<T>(in, in), vector_(vector) {
    this->owns_vectors();
  }

  void forward(const FlowOf<T>& flow) const override {
    flow.output = flow.input.rowwise() + flow.parameters.vectors[vector_].transpose();
  }

  void backward(const FlowOf<T>& flow) const override {
    flow.scratch.matrices.resize(1);
    const MatrixOf<T>& value_gradient = flow.value_gradient;
    sum_over_rows(value_gradient.rows(), value_gradient.cols(), flow.scratch.matrices[0],
                  flow.vector_gradients[vector_], [&](Index begin, Index end, auto part) {
                    for (Index row = begin; row < end; ++row) part += value_gradient.row(row);
                  });
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    if (add) {
      value_gradient += flow.value_gradient;
    } else {
      value_gradient = flow.value_gradient;
    }
  }

 private:
  std::size_t vector_;
};

}  // namespace

template <class T>
OperationPointer<T> make_positions(const spec::SampleShape& in, ParameterBuilder<T>& parameters) {
  const std::size_t vector = parameters.vector(in.size(), 0.02);  // standard deviation 0.02, as in BERT and GPT-2
  return std::make_shared<Positions<T>>(in, vector);
}

template OperationPointer<float> make_positions(const spec::SampleShape&, ParameterBuilder<float>&);
template OperationPointer<double> make_positions(const spec::SampleShape&, ParameterBuilder<double>&);

}  // namespace dadsim::models
