#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "models/gemm/panels.hpp"
#include "models/kernels/array_kernels.hpp"
#include "models/operations/operations.hpp"
#include "models/resized.hpp"
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
/// since rowsum(P ⊙ G Vᵀ) = rowsum(G ⊙ Y) (Dao et al., NeurIPS 2022, arXiv:2205.14135, appendix B). For long rows P is
/// not kept, as in that paper: a block of its rows is in memory of the thread, and is recomputed in the backward pass
/// with the same bits.
template <class T>
class AttentionScores final : public OperationOf<T> {
 public:
  AttentionScores(const spec::AttentionSpec& spec, const spec::SampleShape& in, const spec::SampleShape& out)
      : OperationOf<T>(in, out),
        heads_(spec.heads),
        causal_(spec.causal),
        positions_(in.positions()),
        keeps_(positions_ <= kKeptPositions),
        width_(out.channels / spec.heads),
        scale_(T(1) / std::sqrt(static_cast<T>(width_))) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output.resize(flow.samples(), this->out().size());
    flow.scratch.matrices.resize(1);
    flow.scratch.matrices[0].resize(keeps_ ? flow.samples() * heads_ * positions_ : 0, positions_);
    for_heads(flow.samples(), [&](Index sample, Index head) {
      const AttentionPart<const T> q = part(flow.input, sample, head);
      const AttentionPart<T> y = part(flow.output, sample, head);
      PackedHeads& packed = PackedHeads::mine();
      for_row_blocks([&](Index row, Index rows, Index seen) {
        if (row == 0 || causal_) {
          pack_transposed_panels<T>(part(flow.input, sample, heads_ + head).rows(0, seen, width_), packed.k);
          pack_panels<T>(part(flow.input, sample, 2 * heads_ + head).rows(0, seen, width_), packed.v);
        }
        const AttentionPart<T> block = probabilities(flow, sample, head, row);
        attend(q, packed.k, row, rows, seen, block);
        multiply_panels<T>(block.rows(0, rows, seen), packed.v, y.rows(row, rows, width_), false);
      });
    });
  }

  void backward(const FlowOf<T>&) const override {}

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    for_heads(flow.samples(), [&](Index sample, Index head) {
      const AttentionPart<const T> q = part(flow.input, sample, head);
      const AttentionPart<const T> y = part(std::as_const(flow.output), sample, head);
      const AttentionPart<const T> dy = part(std::as_const(flow.value_gradient), sample, head);
      const AttentionPart<T> dq = part(value_gradient, sample, head);
      const AttentionPart<T> dk = part(value_gradient, sample, heads_ + head);
      const AttentionPart<T> dv = part(value_gradient, sample, 2 * heads_ + head);
      // Clears the sums, because the first block of rows skips the columns that its mask hides.
      const bool whole = positions_ <= kRows;
      if (!add && !whole) {
        dk.rows(0, positions_, width_).setZero();
        dv.rows(0, positions_, width_).setZero();
      }
      PackedHeads& packed = PackedHeads::mine();
      resize_kept(packed.s, std::min(kRows, positions_), positions_);
      const AttentionPart<T> s{packed.s.data(), positions_};
      for_row_blocks([&](Index row, Index rows, Index seen) {
        if (row == 0 || causal_) {
          pack_panels<T>(part(flow.input, sample, heads_ + head).rows(0, seen, width_), packed.k);
          pack_transposed_panels<T>(part(flow.input, sample, 2 * heads_ + head).rows(0, seen, width_), packed.v);
        }
        const AttentionPart<T> block = probabilities(flow, sample, head, row);
        if (!keeps_) {
          if (row == 0 || causal_) {
            pack_transposed_panels<T>(part(flow.input, sample, heads_ + head).rows(0, seen, width_), packed.k_columns);
          }
          attend(q, packed.k_columns, row, rows, seen, block);
        }
        multiply_panels<T>(dy.rows(row, rows, width_), packed.v, s.rows(0, rows, seen), false);
        for (Index i = 0; i < rows; ++i) {
          const T mean = ConstNumbers(dy.row(row + i), width_).dot(ConstNumbers(y.row(row + i), width_));
          array_kernels_of<T>().softmax_back(scale_, mean, seen, block.row(i), s.row(i));
        }
        multiply_panels<T>(s.rows(0, rows, seen), packed.k, dq.rows(row, rows, width_), add);
        pack_panels<T>(q.rows(row, rows, width_), packed.rows);
        multiply_panels_by_rows<T>(s.rows(0, rows, seen), packed.rows, dk.rows(0, seen, width_), add || !whole);
        pack_panels<T>(dy.rows(row, rows, width_), packed.rows);
        multiply_panels_by_rows<T>(block.rows(0, rows, seen), packed.rows, dv.rows(0, seen, width_), add || !whole);
      });
    });
  }

 private:
  /// Rows of P computed together. With a causal mask, columns after a block's last row are skipped.
  static constexpr Index kRows = 64;
  /// Largest number of positions for which P is kept; P is then at most a few times larger than the inputs.
  static constexpr Index kKeptPositions = 64;

  using ConstNumbers = Eigen::Map<const VectorOf<T>>;

  /// Columns of a matrix. Blocks of all sizes share one Eigen type, which is compiled once.
  template <class Scalar>
  struct AttentionPart {
    using Block = Eigen::Map<std::conditional_t<std::is_const_v<Scalar>, const MatrixOf<T>, MatrixOf<T>>, 0,
                             Eigen::OuterStride<>>;
    Scalar* data;
    Index stride;

    Scalar* row(Index i) const { return data + i * stride; }
    Block rows(Index first, Index count, Index columns) const {
      return {row(first), count, columns, Eigen::OuterStride<>(stride)};
    }
  };

  /// Memory of a thread, kept between samples and heads.
  struct PackedHeads {
    MatrixOf<T> k, k_columns, v, rows, s, p;
    static PackedHeads& mine() {
      thread_local PackedHeads packed;
      return packed;
    }
  };

  /// Returns columns [index · e, (index + 1) · e) of the positions of one sample: t × e.
  AttentionPart<const T> part(const MatrixOf<T>& values, Index sample, Index index) const {
    return {values.data() + sample * values.cols() + index * width_, values.cols() / positions_};
  }
  AttentionPart<T> part(MatrixOf<T>& values, Index sample, Index index) const {
    return {values.data() + sample * values.cols() + index * width_, values.cols() / positions_};
  }

  /// Returns rows of P from `row` on, kRows × t. Entries after a row's visible columns are undefined.
  AttentionPart<T> probabilities(const FlowOf<T>& flow, Index sample, Index head, Index row) const {
    if (keeps_) {
      return {flow.scratch.matrices[0].data() + ((sample * heads_ + head) * positions_ + row) * positions_, positions_};
    }
    MatrixOf<T>& p = PackedHeads::mine().p;
    resize_kept(p, std::min(kRows, positions_), positions_);
    return {p.data(), positions_};
  }

  /// Computes these rows of P, for the first `seen` columns.
  void attend(const AttentionPart<const T>& q, const MatrixOf<T>& k, Index row, Index rows, Index seen,
              const AttentionPart<T>& block) const {
    multiply_panels<T>(q.rows(row, rows, width_), k, block.rows(0, rows, seen), false);
    for (Index i = 0; i < rows; ++i) {
      array_kernels_of<T>().softmax(scale_, causal_ ? row + i + 1 : seen, seen, block.row(i));
    }
  }

  template <class Body>
  void for_heads(Index samples, const Body& body) const {
    parallel_for(static_cast<std::size_t>(samples * heads_),
                 [&](std::size_t i) { body(static_cast<Index>(i) / heads_, static_cast<Index>(i) % heads_); });
  }

  /// Calls `body(first row, rows, visible columns)`.
  template <class Body>
  void for_row_blocks(const Body& body) const {
    for (Index row = 0; row < positions_; row += kRows) {
      const Index rows = std::min(kRows, positions_ - row);
      body(row, rows, causal_ ? row + rows : positions_);
    }
  }

  Index heads_;
  bool causal_;
  Index positions_;  // t, positions of a sample
  bool keeps_;       // true: P is kept from the forward pass to the backward pass
  Index width_;      // e, channels of a head
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
