#include <cstddef>

#include "models/gemm/panels.hpp"
#include "models/kernels/array_kernels.hpp"
#include "models/operations/operations.hpp"
#include "models/operations/recurrent.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

constexpr Index kGruGates = 3;

/// A gated recurrent unit (Cho et al., arXiv 1406.1078), in the form of PyTorch's GRU, whose reset gate acts after the
/// product with h:
///     (r, z) = σ(x_t W_xᵀ + b_x + h_{t−1} W_hᵀ + b_h),  n = tanh(x_t W_xᵀ + b_x + r ⊙ (h_{t−1} W_hᵀ + b_h)),
///     h_t = n + z ⊙ (h_{t−1} − n),  h_{−1} = 0.
/// W_x is 3·units × channels and W_h is 3·units × units, their rows in the order r, z, n; x is samples × (positions ·
/// channels), h samples × (positions · units). The backward pass covers the whole sequence. Row (sample, t) of A and Δ
/// is x_t and the value_gradients of x_t W_xᵀ + b_x for W_x, and h_{t−1} and those of h_{t−1} W_hᵀ + b_h for W_h; these
/// differ only in n, by the factor r.
template <class T>
class Gru final : public RecurrentOf<T> {
 public:
  Gru(const spec::RecurrentSpec& spec, const spec::SampleShape& in, std::size_t first)
      : RecurrentOf<T>(spec, in, kGruGates, first) {}

  void forward(const FlowOf<T>& flow) const override {
    auto& kept = this->begin_forward(flow, kCount);
    kept[kReset].resize(kept[kGates].rows(), units_);
    this->for_blocks(flow, [&](Index begin, Index end) {
      forward_block(flow, this->x2h(flow).bias, this->h2h(flow).bias, begin, end);
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    auto& kept = flow.scratch.matrices;
    kept[kDeltaH].resize(kept[kGates].rows(), 3 * units_);
    pack_panels<T>(this->h2h(flow).weight, kept[kPackedH]);
    this->for_blocks(flow, [&](Index begin, Index end) { backward_block(flow, begin, end); });
  }

  RowsOf<T> deltas(std::size_t k, const FlowOf<T>& flow) const override {
    const std::size_t kept = k == 0 ? std::size_t{kGates} : std::size_t{kDeltaH};
    return as_rows(std::as_const(flow.scratch.matrices[kept]), 3 * units_);
  }

 private:
  using Common = RecurrentOf<T>;
  using Common::kBefore;
  using Common::kGates;  // (r, z, n)
  using Common::kPackedH;
  using Common::kPackedX;
  using Common::steps_;
  using Common::units_;
  enum : std::size_t {
    kReset = Common::kOwn,  ///< h_{t−1} W_hᵀ + b_h for n
    kDeltaH,                ///< Δ of W_h
    kCount
  };

  void forward_block(const FlowOf<T>& flow, const VectorOf<T>& bias_x, const VectorOf<T>& bias_h, Index begin,
                     Index end) const {
    auto& kept = flow.scratch.matrices;
    const Index u = units_;
    auto gates = kept[kGates].middleRows(begin * steps_, (end - begin) * steps_);
    const bool biased = bias_x.size() > 0;
    if (biased) gates.rowwise() = bias_x.transpose();
    multiply_panels<T>(as_rows(flow.input, this->in().channels).middleRows(begin * steps_, gates.rows()),
                       kept[kPackedX], gates, biased);
    auto state = as_rows(flow.output, u);
    MatrixOf<T> product = MatrixOf<T>::Zero(end - begin, 3 * u);  // h_{t−1} W_hᵀ + b_h; only the bias in the first step
    for (Index t = 0; t < steps_; ++t) {
      if (biased) product.rowwise() = bias_h.transpose();
      if (t > 0) {
        multiply_panels<T>(flow.output.block(begin, (t - 1) * u, end - begin, u), kept[kPackedH], product, biased);
      }
      for (Index s = begin; s < end; ++s) {
        const Index row = s * steps_ + t;
        const auto h = product.row(s - begin).array();
        auto before = kept[kBefore].row(row).array();
        if (t == 0) {
          before.setZero();
        } else {
          before = state.row(row - 1).array();
        }
        kept[kReset].row(row).array() = h.tail(u);
        array_kernels_of<T>().gru(u, h.data(), before.data(), kept[kGates].data() + row * 3 * u,
                                  flow.output.data() + row * u);
      }
    }
  }

  void backward_block(const FlowOf<T>& flow, Index begin, Index end) const {
    auto& kept = flow.scratch.matrices;
    const Index u = units_;
    const auto value_gradient = as_rows(std::as_const(flow.value_gradient), u);
    MatrixOf<T> carried = MatrixOf<T>::Zero(end - begin, u);  // dLoss/dh_t through h_{t+1}
    for (Index t = steps_; t-- > 0;) {
      for (Index s = begin; s < end; ++s) {
        const Index row = s * steps_ + t;
        array_kernels_of<T>().gru_back(u, kept[kGates].data() + row * 3 * u, kept[kDeltaH].data() + row * 3 * u,
                                       kept[kReset].data() + row * u, kept[kBefore].data() + row * u,
                                       value_gradient.data() + row * u, carried.data() + (s - begin) * u);
      }
      if (t == 0) break;
      const RowsStepsApart deltas(kept[kDeltaH].data() + (begin * steps_ + t) * 3 * u, end - begin, 3 * u,
                                  Eigen::OuterStride<>(steps_ * 3 * u));
      multiply_panels<T>(deltas, kept[kPackedH], carried, true);
    }
  }

  using RowsStepsApart = Eigen::Map<const MatrixOf<T>, 0, Eigen::OuterStride<>>;
};

}  // namespace

template <class T>
OperationPointer<T> make_gru(const spec::RecurrentSpec& spec, const spec::SampleShape& in,
                             ParameterBuilder<T>& parameters) {
  return make_recurrent<Gru<T>>(spec, in, kGruGates, parameters);
}

template OperationPointer<float> make_gru(const spec::RecurrentSpec&, const spec::SampleShape&,
                                          ParameterBuilder<float>&);
template OperationPointer<double> make_gru(const spec::RecurrentSpec&, const spec::SampleShape&,
                                           ParameterBuilder<double>&);

}  // namespace dadsim::models
