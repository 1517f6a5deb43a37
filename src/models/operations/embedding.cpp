#include <stdexcept>

#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// y = table row of each position's symbol; table: vocabulary × units. Its gradient, the sum of the value_gradients of
/// each symbol, is formed by NetworkOf::add_embedding_gradient.
template <class T>
class Embedding final : public OperationOf<T> {
 public:
  Embedding(const spec::SampleShape& in, const spec::SampleShape& out, std::size_t table)
      : OperationOf<T>(in, out), vocabulary_(static_cast<T>(in.vocabulary)) {
    this->owns_matrices(table, 1);
  }

  void forward(const FlowOf<T>& flow) const override {
    const MatrixOf<T>& table = flow.parameters.matrices[this->first_matrix()].weight;
    flow.output.resize(flow.samples(), this->out().size());
    auto y = as_rows(flow.output, table.cols());
    const T* symbols = flow.input.data();
    parallel_for_blocks(static_cast<std::size_t>(y.rows()), kRows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const T symbol = symbols[row];
        if (!(symbol >= T(0) && symbol < vocabulary_)) throw std::logic_error("embedding: no such symbol");
        y.row(static_cast<Index>(row)) = table.row(static_cast<Index>(symbol));
      }
    });
  }

  void backward(const FlowOf<T>&) const override {}
  void backpropagate(const FlowOf<T>&, MatrixOf<T>&, bool) const override {
    throw std::logic_error("embedding: symbols have no gradient for layers before");
  }

 private:
  static constexpr std::size_t kRows = 256;
  T vocabulary_;
};

}  // namespace

template <class T>
OperationPointer<T> make_embedding(const spec::EmbeddingSpec& spec, const spec::SampleShape& in,
                                   ParameterBuilder<T>& parameters) {
  // Standard deviation of a table's entries, between GPT-2's 0.02 and PyTorch's 1. The preset language-model (width 32,
  // Adam, a Markov source of 32 symbols) learned more in 1,000 steps than with 0.02, at rates of 1e-3 and 3e-3; with 1
  // it hardly started at 1e-3.
  const std::size_t table = parameters.embedding(in.vocabulary, spec.units, 0.1);
  return std::make_shared<Embedding<T>>(in, spec::SampleShape{in.height, in.width, spec.units}, table);
}

template OperationPointer<float> make_embedding(const spec::EmbeddingSpec&, const spec::SampleShape&,
                                                ParameterBuilder<float>&);
template OperationPointer<double> make_embedding(const spec::EmbeddingSpec&, const spec::SampleShape&,
                                                 ParameterBuilder<double>&);

}  // namespace dadsim::models
