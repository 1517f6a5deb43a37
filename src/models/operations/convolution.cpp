#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/activation.hpp"
#include "models/gemm/small_product.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// A convolution (cross-correlation, as is usual) with a square kernel, as one matrix product over patches (im2col;
/// Chellapilla, Puri & Simard, IWFHR 2006):
///     A (samples·H'·W' × k·k·C): per output pixel the k × k pixels under the kernel, in the order (ky, kx, c);
///     y = φ(A Wᵀ + 1 bᵀ), W (filters × k·k·C), H' = ⌊(H + 2 padding − k) ÷ stride⌋ + 1, W' alike;
///     dx = Δ W, each entry added to the pixel that it was copied from.
template <class T>
class Convolution final : public OperationOf<T> {
 public:
  Convolution(const spec::ConvolutionSpec& spec, const spec::SampleShape& in, const spec::SampleShape& out,
              std::size_t matrix)
      : OperationOf<T>(in, out),
        spec_(spec),
        width_(spec.kernel * spec.kernel * in.channels),
        copies_(spec.kernel != 1 || spec.stride != 1 || spec.padding != 0),
        block_(std::max<std::size_t>(1, kBlockRows / static_cast<std::size_t>(out.positions()))) {
    this->owns_matrices(matrix, 1);
  }

  void forward(const FlowOf<T>& flow) const override {
    const WeightsOf<T>& weights = flow.parameters.matrices[this->first_matrix()];
    const Index positions = this->out().positions();
    flow.output.resize(flow.samples(), this->out().size());
    flow.scratch.matrices.resize(2);
    if (copies_) flow.scratch.matrices[0].resize(flow.samples() * positions, width_);
    if (keeps_pre_activation()) flow.scratch.matrices[1].resize(flow.output.rows(), flow.output.cols());
    auto y = as_rows(flow.output, spec_.filters);
    for_samples(flow, [&](Index sample, Index samples) {
      if (copies_) copy_patches(flow.input, flow.scratch.matrices[0], sample, samples);
      auto tile = y.middleRows(sample * positions, samples * positions);
      multiply_small_transposed<T>(rows(0, flow).middleRows(sample * positions, samples * positions), weights.weight,
                                   tile);
      if (weights.has_bias()) tile.rowwise() += weights.bias.transpose();
      if (keeps_pre_activation()) {
        flow.scratch.matrices[1].middleRows(sample, samples) = flow.output.middleRows(sample, samples);
      }
      activate_block<T>(spec_.activation, tile);
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    if (keeps_pre_activation()) {
      multiply_derivative(spec_.activation, flow.scratch.matrices[1], flow.value_gradient);
    } else {
      multiply_derivative_from_output(spec_.activation, flow.output, flow.value_gradient);
    }
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    const MatrixOf<T>& weight = flow.parameters.matrices[this->first_matrix()].weight;
    const Index positions = this->out().positions();
    value_gradient.resize(flow.samples(), this->in().size());
    for_samples(flow, [&](Index sample, Index samples) {
      const auto delta = deltas(0, flow).middleRows(sample * positions, samples * positions);
      if (!copies_) {
        multiply_small<T>(delta, weight,
                          as_rows(value_gradient, width_).middleRows(sample * positions, samples * positions), add);
        return;
      }
      // Kept from call to call: a block's worth per thread, which stays in its cache.
      thread_local MatrixOf<T> patches;
      patches.resize(samples * positions, width_);
      multiply_small<T>(delta, weight, patches);
      if (!add) value_gradient.middleRows(sample, samples).setZero();
      add_patches(patches, value_gradient, sample, samples);
    });
  }

  RowsOf<T> rows(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(copies_ ? std::as_const(flow.scratch.matrices[0]) : flow.input, width_);
  }
  RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(std::as_const(flow.value_gradient), spec_.filters);
  }

 private:
  static constexpr std::size_t kBlockRows = 256;  // patches of a block stay in a core's second-level cache

  bool keeps_pre_activation() const { return !derivative_from_output(spec_.activation); }

  template <class Body>
  void for_samples(const FlowOf<T>& flow, const Body& body) const {
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), block_, [&](std::size_t begin, std::size_t end) {
      body(static_cast<Index>(begin), static_cast<Index>(end - begin));
    });
  }

  /// Where a row of the kernel lies for output pixel (oy, ox): `count` values from `pixel` on in the image are those
  /// from `patch` on in the patch; outside of the image there are zeros. Calls body(patch, pixel, count), where count
  /// may be 0, for each of the kernel's rows.
  template <class Body>
  void for_kernel_rows(Index oy, Index ox, const Body& body) const {
    const spec::SampleShape& in = this->in();
    const Index left = ox * spec_.stride - spec_.padding;
    const Index first = std::clamp<Index>(-left, 0, spec_.kernel);
    const Index last = std::clamp<Index>(in.width - left, first, spec_.kernel);
    for (Index ky = 0; ky < spec_.kernel; ++ky) {
      const Index y = oy * spec_.stride - spec_.padding + ky;
      const bool inside = y >= 0 && y < in.height && last > first;
      const Index patch = (ky * spec_.kernel + (inside ? first : 0)) * in.channels;
      body(patch, inside ? (y * in.width + left + first) * in.channels : 0, inside ? (last - first) * in.channels : 0);
    }
  }

  void copy_patches(const MatrixOf<T>& images, MatrixOf<T>& patches, Index sample, Index samples) const {
    const spec::SampleShape& out = this->out();
    T* patch = patches.data() + sample * out.positions() * width_;
    const Index row_size = spec_.kernel * this->in().channels;
    for (Index s = sample; s < sample + samples; ++s) {
      const T* image = images.data() + s * this->in().size();
      for (Index oy = 0; oy < out.height; ++oy) {
        for (Index ox = 0; ox < out.width; ++ox, patch += width_) {
          T* row = patch;
          for_kernel_rows(oy, ox, [&](Index to, Index from, Index count) {
            T* values = patch + to;
            std::fill(row, count > 0 ? values : row + row_size, T(0));
            std::copy_n(image + from, count, values);
            if (count > 0) std::fill(values + count, row + row_size, T(0));
            row += row_size;
          });
        }
      }
    }
  }

  void add_patches(const MatrixOf<T>& patches, MatrixOf<T>& images, Index sample, Index samples) const {
    const spec::SampleShape& out = this->out();
    const T* patch = patches.data();
    for (Index s = sample; s < sample + samples; ++s) {
      T* image = images.data() + s * this->in().size();
      for (Index oy = 0; oy < out.height; ++oy) {
        for (Index ox = 0; ox < out.width; ++ox, patch += width_) {
          for_kernel_rows(oy, ox, [&](Index from, Index to, Index count) {
            for (Index i = 0; i < count; ++i) image[to + i] += patch[from + i];
          });
        }
      }
    }
  }

  spec::ConvolutionSpec spec_;
  Index width_;
  bool copies_;  ///< otherwise a patch is a pixel
  std::size_t block_;
};

}  // namespace

template <class T>
OperationPointer<T> make_convolution(const spec::ConvolutionSpec& spec, const spec::SampleShape& in,
                                     ParameterBuilder<T>& parameters) {
  const std::int64_t area = spec.kernel * spec.kernel;
  const bool half_passes = spec.activation == spec::Activation::relu || spec.activation == spec::Activation::gelu;
  const std::size_t matrix = parameters.matrix(spec.filters, area * in.channels, spec.bias,
                                               initial_limit(half_passes, area * in.channels, area * spec.filters));
  const auto side = [&](std::int64_t length) { return (length + 2 * spec.padding - spec.kernel) / spec.stride + 1; };
  const spec::SampleShape out{side(in.height), side(in.width), spec.filters};
  return std::make_shared<Convolution<T>>(spec, in, out, matrix);
}

template OperationPointer<float> make_convolution(const spec::ConvolutionSpec&, const spec::SampleShape&,
                                                  ParameterBuilder<float>&);
template OperationPointer<double> make_convolution(const spec::ConvolutionSpec&, const spec::SampleShape&,
                                                   ParameterBuilder<double>&);

}  // namespace dadsim::models
