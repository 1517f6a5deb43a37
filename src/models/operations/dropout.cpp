#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/operations/operations.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// In training y = x ⊙ m, where each entry of m is 0 with the given rate and 1 ÷ (1 − rate) otherwise (inverted
/// dropout; Srivastava et al., JMLR 15, 2014); y = x in evaluation.
///
/// The mask depends on the seed, the step, the index of this dropout in the network, and the sample's row in the pass.
/// It does not depend on the distribution of samples over sites.
template <class T>
class Dropout final : public OperationOf<T> {
 public:
  Dropout(const spec::DropoutSpec& spec, const spec::SampleShape& in, std::uint32_t number)
      : OperationOf<T>(in, in), rate_(spec.rate), number_(number) {}

  void forward(const FlowOf<T>& flow) const override {
    if (!flow.pass.training) {
      flow.output = flow.input;
      return;
    }
    flow.output.resize(flow.samples(), this->out().size());
    flow.scratch.matrices.resize(1);
    MatrixOf<T>& mask = flow.scratch.matrices[0];
    mask.resize(flow.samples(), this->out().size());
    for_samples(flow, [&](Index sample) {
      draw(flow.pass, sample, mask.data() + sample * mask.cols());
      flow.output.row(sample) = flow.input.row(sample).cwiseProduct(mask.row(sample));
    });
  }

  void backward(const FlowOf<T>&) const override {}

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    for_samples(flow, [&](Index sample) {
      const auto pass_on = [&](const auto& passed) {
        if (add) {
          value_gradient.row(sample) += passed;
        } else {
          value_gradient.row(sample) = passed;
        }
      };
      if (flow.pass.training) {
        pass_on(flow.value_gradient.row(sample).cwiseProduct(flow.scratch.matrices[0].row(sample)));
      } else {
        pass_on(flow.value_gradient.row(sample));
      }
    });
  }

 private:
  template <class Body>
  static void for_samples(const FlowOf<T>& flow, const Body& body) {
    constexpr std::size_t kBlock = 8;
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t sample = begin; sample < end; ++sample) body(static_cast<Index>(sample));
    });
  }

  /// Draws a mask. Random numbers are counter-based as in RandomStream; each sample has its own range of counters.
  void draw(const Pass& pass, Index sample, T* mask) const {
    const r123::Philox4x32::key_type key{
        {static_cast<std::uint32_t>(pass.seed), static_cast<std::uint32_t>(pass.seed >> 32U)}};
    const std::uint32_t purpose = static_cast<std::uint32_t>(Purpose::dropout) | number_ << 16U;
    const double dropped = std::ldexp(rate_, 32);  // dropout rate times 2³², as a threshold
    const T kept = static_cast<T>(1 / (1 - rate_));
    const Index size = this->out().size();
    for (Index begin = 0; begin < size; begin += 4) {
      const r123::Philox4x32::ctr_type numbers = r123::Philox4x32()(
          {{static_cast<std::uint32_t>(begin / 4), pass.step, static_cast<std::uint32_t>(sample), purpose}}, key);
      for (Index i = begin; i < std::min(begin + 4, size); ++i) {
        mask[i] = static_cast<double>(numbers[static_cast<std::size_t>(i - begin)]) < dropped ? T(0) : kept;
      }
    }
  }

  double rate_;
  std::uint32_t number_;
};

}  // namespace

template <class T>
OperationPointer<T> make_dropout(const spec::DropoutSpec& spec, const spec::SampleShape& in, std::uint32_t number) {
  return std::make_shared<Dropout<T>>(spec, in, number);
}

template OperationPointer<float> make_dropout(const spec::DropoutSpec&, const spec::SampleShape&, std::uint32_t);
template OperationPointer<double> make_dropout(const spec::DropoutSpec&, const spec::SampleShape&, std::uint32_t);

}  // namespace dadsim::models
