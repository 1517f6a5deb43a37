#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/activation.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// Batch normalisation (Ioffe & Szegedy, arXiv 1502.03167), channel by channel over samples and positions:
///     x̂ = (x − μ) ÷ √(σ² + ε),   y = φ(γ x̂ + β).
/// In training μ and σ² (÷ n) are those of each site's samples, as in data-parallel training without synchronised batch
/// norm. With D = dLoss/dy ⊙ φ', and means over the rows of the site
///     dx = γ ÷ √(σ² + ε) · (D − mean(D) − x̂ mean(D ⊙ x̂)).
/// In evaluation μ and σ² are running averages, r ← (1 − momentum) r + momentum · v. v is the mean over sites of μ, or
/// of the variances with divisor n − 1.
template <class T>
class BatchNorm final : public OperationOf<T> {
 public:
  BatchNorm(const spec::BatchNormSpec& spec, const spec::SampleShape& in, ParameterBuilder<T>& parameters)
      : OperationOf<T>(in, in), spec_(spec) {
    const Index channels = in.channels;
    gain_ = parameters.vector(VectorOf<T>::Ones(channels));
    shift_ = parameters.vector(VectorOf<T>::Zero(channels));
    mean_ = parameters.average(VectorOf<double>::Zero(channels));
    variance_ = parameters.average(VectorOf<double>::Ones(channels));
    this->owns_vectors();
  }

  void forward(const FlowOf<T>& flow) const override {
    const Index channels = this->in().channels;
    flow.output.resize(flow.samples(), this->out().size());
    flow.scratch.matrices.resize(kMatrices);
    const std::vector<NormBlock> blocks = cut(flow);
    measure(flow, blocks);
    const VectorOf<T>& gain = flow.parameters.vectors[gain_];
    const VectorOf<T>& shift = flow.parameters.vectors[shift_];
    const auto x = as_rows(flow.input, channels);
    auto y = as_rows(flow.output, channels);
    if (keeps_pre_activation()) flow.scratch.matrices[kPreActivation].resize(y.rows(), channels);
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto [site, begin, rows] = blocks[b];
      // y = scale x + offset
      const ArrayOf scale =
          gain.transpose().array() * flow.scratch.matrices[kInverseDeviation].row(static_cast<Index>(site)).array();
      const ArrayOf offset =
          shift.transpose().array() - flow.scratch.matrices[kMean].row(static_cast<Index>(site)).array() * scale;
      const Wide wide(channels, rows);
      const ArrayOf scales = wide.repeat(scale);
      const ArrayOf offsets = wide.repeat(offset);
      const T* from = x.data() + begin * channels;
      T* to = y.data() + begin * channels;
      wide.for_pieces(rows, [&](Index at, Index size) {
        ArrayAt(to + at, size) = ConstArrayAt(from + at, size) * scales.head(size) + offsets.head(size);
      });
      auto values = y.middleRows(begin, rows);
      if (keeps_pre_activation()) flow.scratch.matrices[kPreActivation].middleRows(begin, rows) = values;
      activate_block<T>(spec_.activation, values);
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    const Index channels = this->in().channels;
    const std::vector<NormBlock> blocks = cut(flow);
    const auto x = as_rows(flow.input, channels);
    const auto y = as_rows(std::as_const(flow.output), channels);
    auto value_gradient = as_rows(flow.value_gradient, channels);
    MatrixOf<T>& parts = flow.scratch.matrices[kParts];
    parts.resize(static_cast<Index>(blocks.size()), 2 * channels);
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto [site, begin, rows] = blocks[b];
      auto delta = value_gradient.middleRows(begin, rows);
      if (keeps_pre_activation()) {
        multiply_derivative_block<T>(spec_.activation, flow.scratch.matrices[kPreActivation].middleRows(begin, rows),
                                     delta);
      } else {
        multiply_derivative_from_output_block<T>(spec_.activation, y.middleRows(begin, rows), delta);
      }
      const auto mean = flow.scratch.matrices[kMean].row(static_cast<Index>(site)).array();
      const T* in = x.data() + begin * channels;
      T* sums = parts.row(static_cast<Index>(b)).data();
      for_columns(channels, [&]<int kSize>(std::integral_constant<int, kSize>, Index column) {
        const Few<kSize> centre = mean.template segment<kSize>(column);
        Few<kSize> sum = Few<kSize>::Zero();
        Few<kSize> product = Few<kSize>::Zero();
        for (Index row = 0; row < delta.rows(); ++row) {
          const FewAt<kSize> d(delta.data() + row * channels + column);
          sum += d;
          product += d * (FewAt<kSize>(in + row * channels + column) - centre);
        }
        std::copy_n(sum.data(), kSize, sums + column);
        std::copy_n(product.data(), kSize, sums + channels + column);
      });
    });

    // Sums per site: of D, and of D ⊙ x̂.
    MatrixOf<T>& sums = flow.scratch.matrices[kSlopeSums];
    sums.setZero(static_cast<Index>(sites(flow)), 2 * channels);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      sums.row(static_cast<Index>(blocks[b].site)) += parts.row(static_cast<Index>(b));
    }
    for (Index site = 0; site < sums.rows(); ++site) {
      sums.row(site).tail(channels).array() *= flow.scratch.matrices[kInverseDeviation].row(site).array();
    }
    flow.vector_gradients[shift_] = sums.leftCols(channels).colwise().sum().transpose();
    flow.vector_gradients[gain_] = sums.rightCols(channels).colwise().sum().transpose();
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    const Index channels = this->in().channels;
    value_gradient.resize(flow.samples(), this->in().size());
    const std::vector<NormBlock> blocks = cut(flow);
    const VectorOf<T>& gain = flow.parameters.vectors[gain_];
    const auto x = as_rows(flow.input, channels);
    const auto delta = as_rows(std::as_const(flow.value_gradient), channels);
    auto dx = as_rows(value_gradient, channels);
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto [site, begin, rows] = blocks[b];
      const auto inverse = flow.scratch.matrices[kInverseDeviation].row(static_cast<Index>(site)).array();
      const auto mean = flow.scratch.matrices[kMean].row(static_cast<Index>(site)).array();
      const auto sums = flow.scratch.matrices[kSlopeSums].row(static_cast<Index>(site)).array();
      // dx = scale D + along x + offset
      const ArrayOf scale = gain.transpose().array() * inverse;
      ArrayOf along = ArrayOf::Zero(channels);
      ArrayOf offset = ArrayOf::Zero(channels);
      if (flow.pass.training) {
        const T share = T(1) / static_cast<T>(rows_of(flow, site));
        along = -scale * inverse * sums.tail(channels) * share;
        offset = -scale * sums.head(channels) * share - along * mean;
      }
      const Wide wide(channels, rows);
      const ArrayOf scales = wide.repeat(scale);
      const ArrayOf alongs = wide.repeat(along);
      const ArrayOf offsets = wide.repeat(offset);
      const Index first = begin * channels;
      wide.for_pieces(rows, [&](Index at, Index size) {
        const auto passed = ConstArrayAt(delta.data() + first + at, size) * scales.head(size) +
                            ConstArrayAt(x.data() + first + at, size) * alongs.head(size) + offsets.head(size);
        if (add) {
          ArrayAt(dx.data() + first + at, size) += passed;
        } else {
          ArrayAt(dx.data() + first + at, size) = passed;
        }
      });
    });
  }

  bool is_batch_norm() const override { return true; }

  void update_running_statistics(const FlowOf<T>& flow, ParametersOf<T>& parameters) const override {
    if (!flow.pass.training) return;
    const Index channels = this->in().channels;
    VectorOf<double> mean = VectorOf<double>::Zero(channels);
    VectorOf<double> variance = VectorOf<double>::Zero(channels);
    double counted = 0;
    for (std::size_t site = 0; site < sites(flow); ++site) {
      if (rows_of(flow, site) == 0) continue;
      counted += 1;
      mean += flow.scratch.matrices[kMean].row(static_cast<Index>(site)).transpose().template cast<double>();
      variance += flow.scratch.matrices[kVariance].row(static_cast<Index>(site)).transpose().template cast<double>();
    }
    if (counted == 0) return;
    const auto take = [&](VectorOf<double>& average, const VectorOf<double>& sum) {
      average = (1 - spec_.momentum) * average + spec_.momentum / counted * sum;
    };
    take(parameters.averages[mean_], mean);
    take(parameters.averages[variance_], variance);
  }

 private:
  using ArrayOf = Eigen::Array<T, 1, Eigen::Dynamic>;
  using ArrayAt = Eigen::Map<ArrayOf>;
  using ConstArrayAt = Eigen::Map<const ArrayOf>;
  template <int kSize>
  using Few = Eigen::Array<T, 1, kSize>;
  template <int kSize>
  using FewAt = Eigen::Map<const Few<kSize>>;

  /// Processes several rows as one long row, since they are contiguous. Starting a row costs more than processing its
  /// few channels.
  class Wide {
   public:
    Wide(Index channels, Index rows) : channels_(channels), rows_(std::clamp<Index>(kWide / channels, 1, rows)) {}
    ArrayOf repeat(const ArrayOf& of_channels) const {
      ArrayOf repeated(rows_ * channels_);
      for (Index row = 0; row < rows_; ++row) repeated.segment(row * channels_, channels_) = of_channels;
      return repeated;
    }
    /// Calls `body(first number, numbers)`; a piece begins with the first channel of a row.
    template <class Body>
    void for_pieces(Index rows, const Body& body) const {
      for (Index row = 0; row < rows; row += rows_) body(row * channels_, std::min(rows_, rows - row) * channels_);
    }

   private:
    static constexpr Index kWide = 128;
    Index channels_, rows_;
  };

  /// Calls `body` for some channels at a time, few enough to keep their sums in registers.
  template <class Body>
  static void for_columns(Index channels, const Body& body) {
    Index column = 0;
    for (; column + 32 <= channels; column += 32) body(std::integral_constant<int, 32>(), column);
    for (; column + 16 <= channels; column += 16) body(std::integral_constant<int, 16>(), column);
    for (; column + 4 <= channels; column += 4) body(std::integral_constant<int, 4>(), column);
    for (; column < channels; ++column) body(std::integral_constant<int, 1>(), column);
  }
  // Indices into ScratchOf::matrices. Statistics have a row per site; in evaluation all rows are equal.
  enum : std::size_t { kMean, kInverseDeviation, kVariance, kParts, kSlopeSums, kPreActivation, kMatrices };

  /// Some rows (samples × positions) of one site.
  struct NormBlock {
    std::size_t site;
    Index begin, rows;
  };

  bool keeps_pre_activation() const { return !derivative_from_output(spec_.activation); }

  static std::size_t sites(const FlowOf<T>& flow) { return flow.pass.sites.empty() ? 1 : flow.pass.sites.size() - 1; }
  Index first_row(const FlowOf<T>& flow, std::size_t site) const {
    if (flow.pass.sites.empty()) return site == 0 ? 0 : flow.samples() * this->in().positions();
    return flow.pass.sites[site] * this->in().positions();
  }
  Index rows_of(const FlowOf<T>& flow, std::size_t site) const {
    return first_row(flow, site + 1) - first_row(flow, site);
  }

  /// Cuts the rows of each site separately, so that rounding at one site does not depend on others.
  std::vector<NormBlock> cut(const FlowOf<T>& flow) const {
    constexpr Index kRows = 256;
    std::vector<NormBlock> blocks;
    for (std::size_t site = 0; site < sites(flow); ++site) {
      const Index end = first_row(flow, site + 1);
      for (Index row = first_row(flow, site); row < end; row += kRows) {
        blocks.push_back({site, row, std::min(kRows, end - row)});
      }
    }
    return blocks;
  }

  void measure(const FlowOf<T>& flow, const std::vector<NormBlock>& blocks) const {
    const Index channels = this->in().channels;
    const auto count = static_cast<Index>(sites(flow));
    MatrixOf<T>& means = flow.scratch.matrices[kMean];
    MatrixOf<T>& inverses = flow.scratch.matrices[kInverseDeviation];
    MatrixOf<T>& variances = flow.scratch.matrices[kVariance];
    for (MatrixOf<T>* statistics : {&means, &inverses, &variances}) statistics->resize(count, channels);
    if (!flow.pass.training) {
      const auto& averages = flow.parameters.averages;
      for (Index site = 0; site < count; ++site) {
        means.row(site) = averages[mean_].template cast<T>().transpose();
        inverses.row(site) =
            (averages[variance_].array() + spec_.epsilon).rsqrt().matrix().template cast<T>().transpose();
      }
      return;
    }

    // Computes mean and sum of squared distances per block, then of their union (Chan, Golub & LeVeque, The American
    // Statistician 37, 1983): one pass, without loss of digits for means far from zero.
    MatrixOf<T>& parts = flow.scratch.matrices[kParts];
    parts.resize(static_cast<Index>(blocks.size()), 2 * channels);
    const auto x = as_rows(flow.input, channels);
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto [site, begin, rows] = blocks[b];
      const T* in = x.data() + begin * channels;
      T* part = parts.row(static_cast<Index>(b)).data();
      for_columns(channels, [&, rows = rows]<int kSize>(std::integral_constant<int, kSize>, Index column) {
        Few<kSize> mean = Few<kSize>::Zero();
        for (Index row = 0; row < rows; ++row) mean += FewAt<kSize>(in + row * channels + column);
        mean /= static_cast<T>(rows);
        Few<kSize> squares = Few<kSize>::Zero();
        for (Index row = 0; row < rows; ++row) squares += (FewAt<kSize>(in + row * channels + column) - mean).square();
        std::copy_n(mean.data(), kSize, part + column);
        std::copy_n(squares.data(), kSize, part + channels + column);
      });
    });
    using Doubles = Eigen::Array<double, 1, Eigen::Dynamic>;
    Doubles mean(channels), squares(channels);
    std::size_t b = 0;
    for (std::size_t site = 0; site < sites(flow); ++site) {
      mean.setZero();
      squares.setZero();
      double rows = 0;
      for (; b < blocks.size() && blocks[b].site == site; ++b) {
        const auto more = static_cast<double>(blocks[b].rows);
        const Doubles distance = parts.row(static_cast<Index>(b)).head(channels).array().template cast<double>() - mean;
        mean += distance * (more / (rows + more));
        squares += parts.row(static_cast<Index>(b)).tail(channels).array().template cast<double>() +
                   distance.square() * (rows * more / (rows + more));
        rows += more;
      }
      const auto s = static_cast<Index>(site);
      means.row(s) = mean.matrix().template cast<T>();
      inverses.row(s) = (squares / std::max(rows, 1.0) + spec_.epsilon).rsqrt().matrix().template cast<T>();
      variances.row(s) = (squares / std::max(rows - 1, 1.0)).matrix().template cast<T>();
    }
  }

  spec::BatchNormSpec spec_;
  std::size_t gain_ = 0, shift_ = 0, mean_ = 0, variance_ = 0;
};

}  // namespace

template <class T>
OperationPointer<T> make_batch_norm(const spec::BatchNormSpec& spec, const spec::SampleShape& in,
                                    ParameterBuilder<T>& parameters) {
  return std::make_shared<BatchNorm<T>>(spec, in, parameters);
}

template OperationPointer<float> make_batch_norm(const spec::BatchNormSpec&, const spec::SampleShape&,
                                                 ParameterBuilder<float>&);
template OperationPointer<double> make_batch_norm(const spec::BatchNormSpec&, const spec::SampleShape&,
                                                  ParameterBuilder<double>&);

}  // namespace dadsim::models
