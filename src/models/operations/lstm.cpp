#include <cmath>
#include <cstddef>

#include "models/gemm/panels.hpp"
#include "models/gemm/product.hpp"
#include "models/kernels/array_kernels.hpp"
#include "models/operations/operations.hpp"
#include "models/operations/recurrent.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// A long short-term memory (Hochreiter & Schmidhuber, Neural Computation 9(8), 1997; with the forget gate of Gers et
/// al., Neural Computation 12(10), 2000), in the form of PyTorch's LSTM:
///     (i, f, o) = σ(x_t W_xᵀ + b_x + h_{t−1} W_hᵀ + b_h),  g = tanh(x_t W_xᵀ + b_x + h_{t−1} W_hᵀ + b_h),
///     c_t = f ⊙ c_{t−1} + i ⊙ g,  h_t = o ⊙ tanh(c_t),  h_{−1} = c_{−1} = 0.
/// W_x is 4·units × channels and W_h is 4·units × units, their rows in the order i, f, g, o; x is samples × (positions
/// · channels), h samples × (positions · units). The backward pass goes back through the whole sequence. Row (sample,
/// t) of A: x_t, and h_{t−1}; Δ is the same for both.
template <class T>
class Lstm final : public OperationOf<T> {
 public:
  Lstm(const spec::RecurrentSpec& spec, const spec::SampleShape& in, std::size_t first)
      : OperationOf<T>(in, {1, in.positions(), spec.units}), units_(spec.units), steps_(in.positions()) {
    this->owns_matrices(first, 2);
  }

  void forward(const FlowOf<T>& flow) const override {
    const WeightsOf<T>& x2h = flow.parameters.matrices[this->first_matrix()];
    const WeightsOf<T>& h2h = flow.parameters.matrices[this->first_matrix() + 1];
    const Index rows = flow.samples() * steps_;
    auto& kept = flow.scratch.matrices;
    kept.resize(kCount);
    kept[kGates].resize(rows, 4 * units_);
    kept[kCell].resize(rows, units_);
    kept[kCellTanh].resize(rows, units_);
    kept[kBefore].resize(rows, units_);
    flow.output.resize(flow.samples(), steps_ * units_);
    pack_transposed_panels<T>(x2h.weight, kept[kPackedX]);
    pack_transposed_panels<T>(h2h.weight, kept[kPackedH]);
    VectorOf<T> bias;
    if (x2h.has_bias()) bias = x2h.bias + h2h.bias;
    for_blocks(flow, [&](Index begin, Index end) { forward_block(flow, bias, begin, end); });
  }

  void backward(const FlowOf<T>& flow) const override {
    pack_panels<T>(flow.parameters.matrices[this->first_matrix() + 1].weight, flow.scratch.matrices[kPackedH]);
    for_blocks(flow, [&](Index begin, Index end) { backward_block(flow, begin, end); });
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    multiply<T>(flow.scratch.matrices[kGates], flow.parameters.matrices[this->first_matrix()].weight,
                as_rows(value_gradient, this->in().channels), add);
  }

  RowsOf<T> rows(std::size_t k, const FlowOf<T>& flow) const override {
    if (k == 0) return as_rows(flow.input, this->in().channels);
    return as_rows(std::as_const(flow.scratch.matrices[kBefore]), units_);
  }
  RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(std::as_const(flow.scratch.matrices[kGates]), 4 * units_);
  }

 private:
  /// What is kept; rows are (sample, t).
  enum : std::size_t {
    kGates,     ///< x_t W_xᵀ + biases, then (i, f, g, o), then Δ
    kCell,      ///< c_t
    kCellTanh,  ///< tanh(c_t)
    kBefore,    ///< h_{t−1}
    kPackedX,
    kPackedH,
    kCount
  };

  template <class Body>
  void for_blocks(const FlowOf<T>& flow, Body&& body) const {
    parallel_for_blocks(
        static_cast<std::size_t>(flow.samples()), kSequencesAtOnce,
        [&](std::size_t begin, std::size_t end) { body(static_cast<Index>(begin), static_cast<Index>(end)); });
  }

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
    MatrixOf<T> carried = MatrixOf<T>::Zero(end - begin, u);  // dLoss/dh_t by way of h_{t+1}
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

  Index units_, steps_;
};

}  // namespace

template <class T>
OperationPointer<T> make_lstm(const spec::RecurrentSpec& spec, const spec::SampleShape& in,
                              ParameterBuilder<T>& parameters) {
  const double limit = 1 / std::sqrt(static_cast<double>(spec.units));  // as PyTorch
  const std::size_t first = parameters.matrix(4 * spec.units, in.channels, spec.bias, limit);
  parameters.matrix(4 * spec.units, spec.units, spec.bias, limit);
  return std::make_shared<Lstm<T>>(spec, in, first);
}

template OperationPointer<float> make_lstm(const spec::RecurrentSpec&, const spec::SampleShape&,
                                           ParameterBuilder<float>&);
template OperationPointer<double> make_lstm(const spec::RecurrentSpec&, const spec::SampleShape&,
                                            ParameterBuilder<double>&);

}  // namespace dadsim::models
