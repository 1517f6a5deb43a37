#include <cstddef>

#include "models/gemm/panels.hpp"
#include "models/kernels/array_kernels.hpp"
#include "models/operations/operations.hpp"
#include "models/operations/recurrent.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

constexpr Index kLstmGates = 4;

/// A long short-term memory (Hochreiter & Schmidhuber, Neural Computation 9(8), 1997; with the forget gate of Gers et
/// al., Neural Computation 12(10), 2000), in the form of PyTorch's LSTM:
///     (i, f, o) = σ(x_t W_xᵀ + b_x + h_{t−1} W_hᵀ + b_h),  g = tanh(x_t W_xᵀ + b_x + h_{t−1} W_hᵀ + b_h),
///     c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ tanh(c_t),  h_{−1} = c_{−1} = 0.
/// W_x is 4·units × channels and W_h is 4·units × units, their rows in the order i, f, g, o; x is samples × (positions
/// · channels), h samples × (positions · units). The backward pass covers the whole sequence. Row (sample, t) of A:
/// x_t, and h_{t−1}; Δ is the same for both.
template <class T>
class Lstm final : public RecurrentOf<T> {
 public:
  Lstm(const spec::RecurrentSpec& spec, const spec::SampleShape& in, std::size_t first)
      : RecurrentOf<T>(spec, in, kLstmGates, first) {}

  void forward(const FlowOf<T>& flow) const override {
    auto& kept = this->begin_forward(flow, kCount);
    kept[kCell].resize(kept[kGates].rows(), units_);
    kept[kCellTanh].resize(kept[kGates].rows(), units_);
    VectorOf<T> bias;
    if (this->x2h(flow).has_bias()) bias = this->x2h(flow).bias + this->h2h(flow).bias;
    this->for_blocks(flow, [&](Index begin, Index end) { forward_block(flow, bias, begin, end); });
  }

  void backward(const FlowOf<T>& flow) const override {
    pack_panels<T>(this->h2h(flow).weight, flow.scratch.matrices[kPackedH]);
    this->for_blocks(flow, [&](Index begin, Index end) { backward_block(flow, begin, end); });
  }

  RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(std::as_const(flow.scratch.matrices[kGates]), 4 * units_);
  }

 private:
  using Common = RecurrentOf<T>;
  using Common::kBefore;
  using Common::kGates;  // (i, f, g, o)
  using Common::kPackedH;
  using Common::kPackedX;
  using Common::steps_;
  using Common::units_;
  enum : std::size_t {
    kCell = Common::kOwn,  ///< c_t
    kCellTanh,             ///< tanh(c_t)
    kCount
  };

  void forward_block(const FlowOf<T>& flow, const VectorOf<T>& bias, Index begin, Index end) const {
    auto& kept = flow.scratch.matrices;
    const Index u = units_;
    auto gates = kept[kGates].middleRows(begin * steps_, (end - begin) * steps_);
    const bool biased = bias.size() > 0;
    if (biased) gates.rowwise() = bias.transpose();
    multiply_panels<T>(as_rows(flow.input, this->in().channels).middleRows(begin * steps_, gates.rows()),
                       kept[kPackedX], gates, biased);
    auto state = as_rows(flow.output, u);
    for (Index t = 0; t < steps_; ++t) {
      if (t > 0) {
        multiply_panels<T>(flow.output.block(begin, (t - 1) * u, end - begin, u), kept[kPackedH],
                           RowsStepsApart(kept[kGates].data() + (begin * steps_ + t) * 4 * u, end - begin, 4 * u,
                                          Eigen::OuterStride<>(steps_ * 4 * u)),
                           true);
      }
      for (Index s = begin; s < end; ++s) {
        const Index row = s * steps_ + t;
        auto before = kept[kBefore].row(row).array();
        if (t == 0) {
          before.setZero();
        } else {
          before = state.row(row - 1).array();
        }
        T* const cell = kept[kCell].data() + row * u;
        array_kernels_of<T>().lstm(u, kept[kGates].data() + row * 4 * u, t == 0 ? nullptr : cell - u, cell,
                                   kept[kCellTanh].data() + row * u, flow.output.data() + row * u);
      }
    }
  }

  void backward_block(const FlowOf<T>& flow, Index begin, Index end) const {
    auto& kept = flow.scratch.matrices;
    const Index u = units_;
    const auto value_gradient = as_rows(std::as_const(flow.value_gradient), u);
    const VectorOf<T> zeros = VectorOf<T>::Zero(u);           // c_{−1}
    MatrixOf<T> carried = MatrixOf<T>::Zero(end - begin, u);  // dLoss/dh_t through h_{t+1}
    MatrixOf<T> carried_cell = MatrixOf<T>::Zero(end - begin, u);
    for (Index t = steps_; t-- > 0;) {
      for (Index s = begin; s < end; ++s) {
        const Index row = s * steps_ + t;
        const T* cell_before = t == 0 ? zeros.data() : kept[kCell].data() + (row - 1) * u;
        array_kernels_of<T>().lstm_back(u, kept[kGates].data() + row * 4 * u, kept[kCellTanh].data() + row * u,
                                        cell_before, value_gradient.data() + row * u, carried.data() + (s - begin) * u,
                                        carried_cell.data() + (s - begin) * u);
      }
      if (t == 0) break;
      const RowsStepsApart deltas(kept[kGates].data() + (begin * steps_ + t) * 4 * u, end - begin, 4 * u,
                                  Eigen::OuterStride<>(steps_ * 4 * u));
      multiply_panels<T>(deltas, kept[kPackedH], carried, false);
    }
  }

  using RowsStepsApart = Eigen::Map<MatrixOf<T>, 0, Eigen::OuterStride<>>;
};

}  // namespace

template <class T>
OperationPointer<T> make_lstm(const spec::RecurrentSpec& spec, const spec::SampleShape& in,
                              ParameterBuilder<T>& parameters) {
  return make_recurrent<Lstm<T>>(spec, in, kLstmGates, parameters);
}

template OperationPointer<float> make_lstm(const spec::RecurrentSpec&, const spec::SampleShape&,
                                           ParameterBuilder<float>&);
template OperationPointer<double> make_lstm(const spec::RecurrentSpec&, const spec::SampleShape&,
                                            ParameterBuilder<double>&);

}  // namespace dadsim::models
