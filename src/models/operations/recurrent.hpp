#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "models/gemm/panels.hpp"
#include "models/gemm/product.hpp"
#include "models/operation.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {

/// Samples that one thread processes through the whole sequence together, so that their data stay in its cache.
inline constexpr std::size_t kSequencesAtOnce = 12;

/// Common part of GRU and LSTM. With `gates` gates, W_x is gates·units × channels and W_h gates·units × units. Blocks
/// of samples pass through the sequence together. x is samples × (positions · channels), h samples × (positions ·
/// units).
template <class T>
class RecurrentOf : public OperationOf<T> {
 public:
  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    multiply<T>(flow.scratch.matrices[kGates], flow.parameters.matrices[this->first_matrix()].weight,
                as_rows(value_gradient, this->in().channels), add);
  }

  RowsOf<T> rows(std::size_t k, const FlowOf<T>& flow) const override {
    if (k == 0) return as_rows(flow.input, this->in().channels);
    return as_rows(std::as_const(flow.scratch.matrices[kBefore]), units_);
  }

 protected:
  /// Matrices of ScratchOf; rows are (sample, t).
  enum : std::size_t {
    kGates,   ///< x_t W_xᵀ and biases, then the gates, then Δ of W_x
    kBefore,  ///< h_{t−1}
    kPackedX,
    kPackedH,
    kOwn,  ///< index of the first matrix that derived classes may use
  };

  RecurrentOf(const spec::RecurrentSpec& spec, const spec::SampleShape& in, Eigen::Index gates, std::size_t first)
      : OperationOf<T>(in, {1, in.positions(), spec.units}), units_(spec.units), steps_(in.positions()), gates_(gates) {
    this->owns_matrices(first, 2);
  }

  /// Returns memory for a forward pass that keeps `count` matrices, with the weights packed.
  std::vector<MatrixOf<T>>& begin_forward(const FlowOf<T>& flow, std::size_t count) const {
    std::vector<MatrixOf<T>>& kept = flow.scratch.matrices;
    kept.resize(count);
    kept[kGates].resize(flow.samples() * steps_, gates_ * units_);
    kept[kBefore].resize(flow.samples() * steps_, units_);
    flow.output.resize(flow.samples(), steps_ * units_);
    pack_transposed_panels<T>(x2h(flow).weight, kept[kPackedX]);
    pack_transposed_panels<T>(h2h(flow).weight, kept[kPackedH]);
    return kept;
  }

  const WeightsOf<T>& x2h(const FlowOf<T>& flow) const { return flow.parameters.matrices[this->first_matrix()]; }
  const WeightsOf<T>& h2h(const FlowOf<T>& flow) const { return flow.parameters.matrices[this->first_matrix() + 1]; }

  /// Calls `body(begin, end)` for blocks of samples, possibly in parallel.
  template <class Body>
  void for_blocks(const FlowOf<T>& flow, Body&& body) const {
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), kSequencesAtOnce,
                        [&](std::size_t begin, std::size_t end) {
                          body(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(end));
                        });
  }

  Eigen::Index units_, steps_, gates_;
};

/// Creates the weights W_x and W_h of a unit with `gates` gates, with PyTorch's initial values.
template <class Unit, class T>
OperationPointer<T> make_recurrent(const spec::RecurrentSpec& spec, const spec::SampleShape& in, Eigen::Index gates,
                                   ParameterBuilder<T>& parameters) {
  const double limit = 1 / std::sqrt(static_cast<double>(spec.units));
  const std::size_t first = parameters.matrix(gates * spec.units, in.channels, spec.bias, limit);
  parameters.matrix(gates * spec.units, spec.units, spec.bias, limit);
  return std::make_shared<Unit>(spec, in, first);
}

}  // namespace dadsim::models
