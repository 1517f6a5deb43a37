#include <algorithm>
#include <cmath>

#include "models/gemm/small_product.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// The middle of multi-head attention (Vaswani et al., NeurIPS 2017, arXiv:1706.03762, section 3.2), per sample and
/// head, with t positions and e = channels ÷ heads:
///     P = softmax(Q Kᵀ ÷ √e)  (t × t, row by row), Y = P V  (t × e)
/// With a causal mask, P(i, j) = 0 for j > i. In: t positions of (Q of all heads, K of all heads, V of all heads); out:
/// t positions of (Y of all heads). With G = dLoss/dY:
///     S = P ⊙ (G Vᵀ − rowsum(G ⊙ Y)), dQ = S K ÷ √e, dK = Sᵀ Q ÷ √e, dV = Pᵀ G
/// since rowsum(P ⊙ G Vᵀ) = rowsum(G ⊙ Y) (Dao et al., NeurIPS 2022, arXiv:2205.14135, appendix B).
template <class T>
class AttentionScores final : public OperationOf<T> {
 public:
  AttentionScores(const spec::AttentionSpec& spec, const spec::SampleShape& in, const spec::SampleShape& out)
      : OperationOf<T>(in, out),
        heads_(spec.heads),
        causal_(spec.causal),
        positions_(in.positions()),
        width_(out.channels / spec.heads),
        scale_(T(1) / std::sqrt(static_cast<T>(width_))) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output.resize(flow.samples(), this->out().size());
    flow.scratch.matrices.resize(1);
    flow.scratch.matrices[0].resize(flow.samples() * heads_ * positions_, positions_);
    for_heads(flow.samples(), [&](Index sample, Index head) {
      const auto q = part<const T>(flow.input, sample, head);
      const auto k = part<const T>(flow.input, sample, heads_ + head);
      const auto v = part<const T>(flow.input, sample, 2 * heads_ + head);
      auto y = part<T>(flow.output, sample, head);
      auto p = probabilities(flow, sample, head);
      for_row_blocks([&](Index row, Index rows, Index seen) {
        auto block = p.block(row, 0, rows, seen);
        multiply_small_transposed<T>(q.middleRows(row, rows), k.topRows(seen), block);
        for (Index i = 0; i < rows; ++i) softmax(block.row(i), causal_ ? row + i + 1 : seen);
        multiply_small<T>(block, v.topRows(seen), y.middleRows(row, rows));
      });
    });
  }

  void backward(const FlowOf<T>&) const override {}

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    for_heads(flow.samples(), [&](Index sample, Index head) {
      const auto q = part<const T>(flow.input, sample, head);
      const auto k = part<const T>(flow.input, sample, heads_ + head);
      const auto v = part<const T>(flow.input, sample, 2 * heads_ + head);
      const auto y = part<const T>(flow.output, sample, head);
      const auto dy = part<const T>(flow.value_gradient, sample, head);
      auto dq = part<T>(value_gradient, sample, head);
      auto dk = part<T>(value_gradient, sample, heads_ + head);
      auto dv = part<T>(value_gradient, sample, 2 * heads_ + head);
      if (!add) {
        dq.setZero();
        dk.setZero();
        dv.setZero();
      }
      const auto p = probabilities(flow, sample, head);
      thread_local MatrixOf<T> memory;
      memory.resize(std::min(kRows, positions_), positions_);
      for_row_blocks([&](Index row, Index rows, Index seen) {
        const auto given = dy.middleRows(row, rows);
        const auto block = p.block(row, 0, rows, seen);
        auto s = memory.topLeftCorner(rows, seen);
        multiply_small_transposed<T>(given, v.topRows(seen), s);
        for (Index i = 0; i < rows; ++i) {
          const T mean = given.row(i).dot(y.row(row + i));
          s.row(i).array() = block.row(i).array() * (s.row(i).array() - mean) * scale_;
        }
        multiply_small<T>(s, k.topRows(seen), dq.middleRows(row, rows), true);
        add_small_by_rows<T>(s, q.middleRows(row, rows), dk.topRows(seen));
        add_small_by_rows<T>(block, given, dv.topRows(seen));
      });
    });
  }

 private:
  /// Rows of P that are worked on together. With a causal mask, the columns behind a block's last row are skipped.
  static constexpr Index kRows = 64;

  template <class Scalar>
  using Part =
      Eigen::Map<std::conditional_t<std::is_const_v<Scalar>, const MatrixOf<T>, MatrixOf<T>>, 0, Eigen::OuterStride<>>;

  /// Columns [index · e, (index + 1) · e) of the positions of one sample: t × e.
  template <class Scalar, class Values>
  Part<Scalar> part(Values& values, Index sample, Index index) const {
    const Index channels = values.cols() / positions_;
    return {values.data() + sample * values.cols() + index * width_, positions_, width_,
            Eigen::OuterStride<>(channels)};
  }

  /// t × t; what lies behind the columns that a row sees is not used.
  auto probabilities(const FlowOf<T>& flow, Index sample, Index head) const {
    return flow.scratch.matrices[0].middleRows((sample * heads_ + head) * positions_, positions_);
  }

  template <class Body>
  void for_heads(Index samples, const Body& body) const {
    parallel_for(static_cast<std::size_t>(samples * heads_),
                 [&](std::size_t i) { body(static_cast<Index>(i) / heads_, static_cast<Index>(i) % heads_); });
  }

  /// Calls `body(first row, rows, columns that they may see)`.
  template <class Body>
  void for_row_blocks(const Body& body) const {
    for (Index row = 0; row < positions_; row += kRows) {
      const Index rows = std::min(kRows, positions_ - row);
      body(row, rows, causal_ ? row + rows : positions_);
    }
  }

  /// softmax(z ÷ √e) over the first `seen` entries, 0 behind them.
  template <class Row>
  void softmax(Row row, Index seen) const {
    auto z = row.head(seen).array();
    const T largest = z.maxCoeff();
    z = ((z - largest) * scale_).exp();
    z *= T(1) / z.sum();
    row.tail(row.size() - seen).setZero();
  }

  Index heads_;
  bool causal_;
  Index positions_;  // t
  Index width_;      // e
  T scale_;          // 1 ÷ √e
};

}  // namespace

template <class T>
OperationPointer<T> make_attention_scores(const spec::AttentionSpec& spec, const spec::SampleShape& in) {
  const spec::SampleShape out{in.height, in.width, in.channels / 3};
  return std::make_shared<AttentionScores<T>>(spec, in, out);
}

template OperationPointer<float> make_attention_scores(const spec::AttentionSpec&, const spec::SampleShape&);
template OperationPointer<double> make_attention_scores(const spec::AttentionSpec&, const spec::SampleShape&);

}  // namespace dadsim::models
