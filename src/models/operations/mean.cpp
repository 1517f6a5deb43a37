#include <cstddef>

#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// The mean over all positions, channel by channel: y = Σ_p x_p ÷ positions.
template <class T>
class Mean final : public OperationOf<T> {
 public:
  explicit Mean(const spec::SampleShape& in) : OperationOf<T>(in, {1, 1, in.channels}) {}

  void forward(const FlowOf<T>& flow) const override { mean(flow, flow.input, flow.output); }

  void backward(const FlowOf<T>&) const override {}

  bool has_tangent() const override { return true; }
  void differentiate(const TangentFlowOf<T>& tangent) const override {
    if (tangent.input.size() > 0) {
      mean(tangent.flow, tangent.input, tangent.output);
    } else {
      tangent.output.resize(0, 0);
    }
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    for_samples(flow, [&](Index sample) {
      auto pixels = as_rows(value_gradient, this->in().channels)
                        .middleRows(sample * this->in().positions(), this->in().positions());
      if (add) {
        pixels.rowwise() += flow.value_gradient.row(sample) * share();
      } else {
        pixels.rowwise() = flow.value_gradient.row(sample) * share();
      }
    });
  }

 private:
  void mean(const FlowOf<T>& flow, const MatrixOf<T>& of, MatrixOf<T>& to) const {
    to.resize(flow.samples(), this->out().size());
    for_samples(flow, [&](Index sample) { to.row(sample) = of_sample(of, sample).colwise().sum() * share(); });
  }

  T share() const { return T(1) / static_cast<T>(this->in().positions()); }

  auto of_sample(const MatrixOf<T>& values, Index sample) const {
    return RowsOf<T>(values.data() + sample * this->in().size(), this->in().positions(), this->in().channels);
  }

  template <class Body>
  static void for_samples(const FlowOf<T>& flow, const Body& body) {
    constexpr std::size_t kBlock = 8;
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t sample = begin; sample < end; ++sample) body(static_cast<Index>(sample));
    });
  }
};

}  // namespace

template <class T>
OperationPointer<T> make_mean(const spec::SampleShape& in) {
  return std::make_shared<Mean<T>>(in);
}

template OperationPointer<float> make_mean(const spec::SampleShape&);
template OperationPointer<double> make_mean(const spec::SampleShape&);

}  // namespace dadsim::models
