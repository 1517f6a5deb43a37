#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "models/activation.hpp"
#include "models/gemm/kernels.hpp"
#include "models/gemm/work_count.hpp"
#include "models/matrix.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

// The products of a convolution, on the calling thread and directly from the pixels: the numbers under a row of the
// kernel are contiguous in the picture, so that no patch has to be copied (implicit GEMM; Chetlur et al., cuDNN,
// arXiv:1410.0759). A picture is height × width × channels, with a border of zeros left and right only: rows of the
// kernel above or below it are left out.

/// A picture with extra columns left and right: pixel (y, x) is at y · pitch + (left + x) · channels.
template <class T>
struct PictureOf {
  const T* pixels = nullptr;  ///< pixels from column −left on
  Eigen::Index height = 0, channels = 0, left = 0, pitch = 0;

  const T* at(Eigen::Index y, Eigen::Index x) const { return pixels + y * pitch + (left + x) * channels; }
};

/// Returns `picture` (height × width × channels) with `left` and `right` columns of zeros added, in `memory`. The
/// memory has room after the picture, which add_window_gradient() reads.
template <class T>
PictureOf<T> with_borders(const T* picture, Eigen::Index height, Eigen::Index width, Eigen::Index channels,
                          Eigen::Index left, Eigen::Index right, std::vector<T>& memory);

/// Windows of rows × columns pixels, and their positions. Window (i, j) begins at pixel (row + i · step, column + j ·
/// step) of the picture and gives pixel (out_row + i · out_step, out_column + j · out_step) of the result.
struct WindowShape {
  Eigen::Index rows = 0, columns = 0;
  Eigen::Index down = 0, across = 0;  ///< number of windows in each direction
  Eigen::Index row = 0, column = 0, step = 1;
  Eigen::Index out_row = 0, out_column = 0, out_step = 1;
};

/// Returns the number of columns of a panel for `out` filters.
template <class T>
Eigen::Index window_panel(Eigen::Index out);

/// Computes each pixel of `result` (… × result_width × out) that belongs to a window: Σ_k window(k) W(k, ·) (+ bias, if
/// it has entries); with `add`, adds to it. The order of the terms is fixed: by row of the window, then by pixel, then
/// by channel.
template <class T>
void multiply_windows(const PictureOf<T>& picture, const WindowShape& windows, const std::vector<T>& panels,
                      const VectorOf<T>& bias, bool add, T* result, Eigen::Index result_width, Eigen::Index out);

/// Adds Σ over windows of delta(window, ·)ᵀ window(·) to G (filters × rows·columns·channels); `delta` is down × across
/// × filters. The picture comes from with_borders().
template <class T>
void add_window_gradient(const PictureOf<T>& picture, const WindowShape& windows, const T* delta, Eigen::Index filters,
                         T* gradient);

/// Cuts W (terms × out) into panels for multiply_windows(); `entry(k, j)` returns each of its entries.
template <class T, class Entry>
void pack_windows(Eigen::Index terms, Eigen::Index out, const Entry& entry, std::vector<T>& panels) {
  const Eigen::Index width = window_panel<T>(out);
  panels.assign(static_cast<std::size_t>((out + width - 1) / width * width * terms), T(0));
  for (Eigen::Index j = 0; j < out; ++j) {
    T* to = panels.data() + j / width * width * terms + j % width;
    for (Eigen::Index k = 0; k < terms; ++k) to[k * width] = entry(k, j);
  }
}

using Eigen::Index;

/// The rows of a window that lie inside the picture: [first, last).
struct RowsInside {
  RowsInside(Index begin, Index rows, Index height)
      : first(std::clamp<Index>(-begin, 0, rows)), last(std::clamp<Index>(height - begin, first, rows)) {}
  Index first, last;
};

template <class T>
PictureOf<T> with_borders(const T* picture, Index height, Index width, Index channels, Index left, Index right,
                          std::vector<T>& memory) {
  const PictureOf<T> result{nullptr, height, channels, left, (left + width + right) * channels};
  const auto size = static_cast<std::size_t>(height * result.pitch + kernels<T>().gradient_columns);
  if (memory.size() < size) memory.resize(size);
  T* to = memory.data();
  for (Index y = 0; y < height; ++y, picture += width * channels) {
    to = std::fill_n(to, left * channels, T(0));
    to = std::copy_n(picture, width * channels, to);
    to = std::fill_n(to, right * channels, T(0));
  }
  return {memory.data(), result.height, result.channels, result.left, result.pitch};
}

template <class T>
Index window_panel(Index out) {
  const KernelsOf<T>& set = kernels<T>();
  return out <= set.few_lanes ? set.few_lanes : out <= set.lanes ? set.lanes : set.window_columns;
}

template <class T>
void multiply_windows(const PictureOf<T>& picture, const WindowShape& windows, const std::vector<T>& panels,
                      const VectorOf<T>& bias, bool add, T* result, Index result_width, Index out) {
  const Index width = window_panel<T>(out);
  const Index run = windows.columns * picture.channels;
  const Index panel_size = windows.rows * run * width;
  VectorOf<T> padded = VectorOf<T>::Zero(bias.size() > 0 ? width : 0);
  for (Index column = 0, p = 0; column < out; column += width, ++p) {
    WindowTile<T> tile{};
    tile.apart = windows.step * picture.channels;
    tile.pitch = picture.pitch;
    tile.run = run;
    tile.width = width;
    tile.result_apart = windows.out_step * out;
    tile.columns = std::min(width, out - column);
    tile.add = add;
    if (bias.size() > 0) {
      std::copy_n(bias.data() + column, tile.columns, padded.data());
      tile.bias = padded.data();
    }
    for (Index i = 0; i < windows.down; ++i) {
      const Index row = windows.row + i * windows.step;
      const RowsInside inside(row, windows.rows, picture.height);
      tile.rows = inside.last - inside.first;
      tile.window = picture.at(tile.rows > 0 ? row + inside.first : 0, windows.column);
      tile.panel = panels.data() + p * panel_size + inside.first * run * width;
      tile.result =
          result + ((windows.out_row + i * windows.out_step) * result_width + windows.out_column) * out + column;
      kernels<T>().multiply_windows(windows.across, tile);
    }
  }
}

template <class T>
void add_window_gradient(const PictureOf<T>& picture, const WindowShape& windows, const T* delta, Index filters,
                         T* gradient) {
  const Index run = windows.columns * picture.channels;
  GradientTile<T> tile{};
  tile.delta_apart = filters;
  tile.delta_pitch = windows.across * filters;
  tile.number_apart = windows.step * picture.channels;
  tile.number_pitch = windows.step * picture.pitch;
  tile.across = windows.across;
  tile.gradient_apart = windows.rows * run;
  for (Index y = 0; y < windows.rows; ++y) {
    // Window rows i for which 0 ≤ row + i · step + y < height.
    const Index begin = windows.row + y;
    const Index first = begin >= 0 ? 0 : (-begin + windows.step - 1) / windows.step;
    const Index last = std::min(
        windows.down, begin >= picture.height ? 0 : (picture.height - begin + windows.step - 1) / windows.step);
    tile.down = last - first;
    if (tile.down <= 0) continue;
    const T* number = picture.at(begin + first * windows.step, windows.column);
    for (Index column = 0; column < run; column += kernels<T>().gradient_columns) {
      tile.columns = std::min<Index>(kernels<T>().gradient_columns, run - column);
      tile.number = number + column;
      tile.delta = delta + first * tile.delta_pitch;
      tile.gradient = gradient + y * run + column;
      kernels<T>().add_gradient(filters, tile);
    }
  }
}

template PictureOf<float> with_borders(const float*, Index, Index, Index, Index, Index, std::vector<float>&);
template PictureOf<double> with_borders(const double*, Index, Index, Index, Index, Index, std::vector<double>&);
template Index window_panel<float>(Index);
template Index window_panel<double>(Index);
template void multiply_windows(const PictureOf<float>&, const WindowShape&, const std::vector<float>&,
                               const VectorOf<float>&, bool, float*, Index, Index);
template void multiply_windows(const PictureOf<double>&, const WindowShape&, const std::vector<double>&,
                               const VectorOf<double>&, bool, double*, Index, Index);
template void add_window_gradient(const PictureOf<float>&, const WindowShape&, const float*, Index, float*);
template void add_window_gradient(const PictureOf<double>&, const WindowShape&, const double*, Index, double*);

/// A convolution (cross-correlation, as is usual) with a square kernel, as one matrix product over patches:
///     A (samples·H'·W' × k·k·C): per output pixel the k × k pixels under the kernel, in the order (ky, kx, c);
///     y = φ(A Wᵀ + 1 bᵀ), W (filters × k·k·C), H' = ⌊(H + 2 padding − k) ÷ stride⌋ + 1, W' alike;
///     dx(y, x, c) = Σ Δ(oy, ox, f) W(f, ky, kx, c) over oy · stride + ky = y + padding, and x alike.
/// The products read the pixels in place. dx is a convolution of Δ for each of the stride² remainders of (y + padding,
/// x + padding), with the matching part of the kernel. A itself (im2col; Chellapilla, Puri & Simard, IWFHR 2006) is
/// formed only on request.
template <class T>
class ConvolutionOperation final : public OperationOf<T> {
 public:
  ConvolutionOperation(const spec::ConvolutionSpec& spec, const spec::SampleShape& in, const spec::SampleShape& out,
                       std::size_t matrix)
      : OperationOf<T>(in, out),
        spec_(spec),
        width_(spec.kernel * spec.kernel * in.channels),
        copies_(spec.kernel != 1 || spec.stride != 1 || spec.padding != 0),
        block_(std::max<std::size_t>(1, kBlockRows / static_cast<std::size_t>(out.positions()))),
        windows_{.rows = spec.kernel,
                 .columns = spec.kernel,
                 .down = out.height,
                 .across = out.width,
                 .row = -spec.padding,
                 .column = -spec.padding,
                 .step = spec.stride},
        left_(spec.padding),
        right_(std::max<Index>(0, (out.width - 1) * spec.stride - spec.padding + spec.kernel - in.width)) {
    this->owns_matrices(matrix, 1);
    for (Index y = 0; y < spec.stride; ++y) {
      for (Index x = 0; x < spec.stride; ++x) add_remainder(y, x);
    }
  }

  void forward(const FlowOf<T>& flow) const override {
    const WeightsOf<T>& weights = flow.parameters.matrices[this->first_matrix()];
    flow.output.resize(flow.samples(), this->out().size());
    flow.scratch.matrices.resize(kCount);
    flow.scratch.indices.assign(1, 0);
    if (keeps_pre_activation()) flow.scratch.matrices[kPreActivation].resize(flow.output.rows(), flow.output.cols());
    std::vector<T> panels;
    pack_windows<T>(
        width_, spec_.filters, [&](Index k, Index f) { return weights.weight(f, k); }, panels);
    for_samples(flow, [&](Index sample, Index samples) {
      for (Index s = sample; s < sample + samples; ++s) {
        multiply_windows<T>(picture(flow.input, s), windows_, panels, weights.bias, false,
                            flow.output.data() + s * this->out().size(), this->out().width, spec_.filters);
      }
      auto y = flow.output.middleRows(sample, samples);
      if (keeps_pre_activation()) flow.scratch.matrices[kPreActivation].middleRows(sample, samples) = y;
      activate_block<T>(spec_.activation, y);
    });
  }

  void backward(const FlowOf<T>& flow) const override {
    if (keeps_pre_activation()) {
      multiply_derivative(spec_.activation, flow.scratch.matrices[kPreActivation], flow.value_gradient);
    } else {
      multiply_derivative_from_output(spec_.activation, flow.output, flow.value_gradient);
    }
  }

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    const MatrixOf<T>& weight = flow.parameters.matrices[this->first_matrix()].weight;
    const Index channels = this->in().channels;
    value_gradient.resize(flow.samples(), this->in().size());
    std::vector<std::vector<T>> panels(remainders_.size());
    for (std::size_t r = 0; r < remainders_.size(); ++r) {
      // Δ meets the kernel in reverse order: the first pixel of a window of Δ belongs to the kernel's last pixel.
      const auto& [windows, last_y, last_x] = remainders_[r];
      const auto entry = [&, &w = windows, y = last_y, x = last_x](Index k, Index c) {
        const Index filter = k % spec_.filters;
        const Index kx = x - k / spec_.filters % w.columns * spec_.stride;
        const Index ky = y - k / spec_.filters / w.columns * spec_.stride;
        return weight(filter, (ky * spec_.kernel + kx) * channels + c);
      };
      pack_windows<T>(windows.rows * windows.columns * spec_.filters, channels, entry, panels[r]);
    }
    for_samples(flow, [&](Index sample, Index samples) {
      for (Index s = sample; s < sample + samples; ++s) {
        const PictureOf<T> delta = delta_picture(flow.value_gradient, s);
        for (std::size_t r = 0; r < remainders_.size(); ++r) {
          multiply_windows<T>(delta, remainders_[r].windows, panels[r], {}, add,
                              value_gradient.data() + s * this->in().size(), this->in().width, channels);
        }
      }
    });
  }

  void weight_gradient(std::size_t k, const FlowOf<T>& flow, MatrixOf<T>& gradient) const override {
    if (!copies_) return OperationOf<T>::weight_gradient(k, flow, gradient);
    gradient.resize(spec_.filters, width_);
    count_product(spec_.filters, width_, flow.samples() * this->out().positions());
    const auto samples = static_cast<std::size_t>(flow.samples());
    const std::size_t block = std::max(kGradientSamples, (samples + kGradientBlocks - 1) / kGradientBlocks);
    MatrixOf<T>& parts = flow.scratch.matrices[kParts];
    parts.setZero(static_cast<Index>((samples + block - 1) / block), gradient.size());
    parallel_for_blocks(samples, block, [&](std::size_t begin, std::size_t end) {
      T* part = parts.data() + static_cast<Index>(begin / block) * parts.cols();
      for (auto s = static_cast<Index>(begin); s < static_cast<Index>(end); ++s) {
        add_window_gradient<T>(bordered(flow.input, s), windows_, flow.value_gradient.data() + s * this->out().size(),
                               spec_.filters, part);
      }
    });
    gradient.setZero();
    for (Index part = 0; part < parts.rows(); ++part) {
      gradient += Eigen::Map<const MatrixOf<T>>(parts.row(part).data(), gradient.rows(), gradient.cols());
    }
  }

  RowsOf<T> rows(std::size_t, const FlowOf<T>& flow) const override {
    if (!copies_) return as_rows(flow.input, width_);
    // The first caller forms the patches; readers of the same pass may run concurrently.
    const std::lock_guard lock(copying_);
    MatrixOf<T>& patches = flow.scratch.matrices[kPatches];
    if (flow.scratch.indices.front() == 0) {
      patches.resize(flow.samples() * this->out().positions(), width_);
      for_samples(flow, [&](Index sample, Index samples) { copy_patches(flow.input, patches, sample, samples); });
      flow.scratch.indices.front() = 1;
    }
    return as_rows(std::as_const(patches), width_);
  }
  RowsOf<T> deltas(std::size_t, const FlowOf<T>& flow) const override {
    return as_rows(std::as_const(flow.value_gradient), spec_.filters);
  }

 private:
  static constexpr std::size_t kBlockRows = 256;      // largest number of output pixels per block of several samples,
                                                      // which one thread computes
                                                      // computes
  static constexpr std::size_t kGradientSamples = 8;  // smallest number of samples whose gradients are added in
                                                      // sequence, as a block
  static constexpr std::size_t kGradientBlocks = 32;  // largest number of these blocks
  // Indices into ScratchOf::matrices; kPatches is set only once the patches have been formed.
  enum : std::size_t { kPatches, kPreActivation, kParts, kCount };

  /// Input pixels with the same remainders of (y + padding, x + padding) modulo the stride.
  struct Remainder {
    WindowShape windows;   ///< windows of Δ
    Index last_y, last_x;  ///< last kernel pixels that these windows meet
  };

  bool keeps_pre_activation() const { return !derivative_from_output(spec_.activation); }

  void add_remainder(Index y, Index x) {
    const Index stride = spec_.stride;
    const auto meeting = [&](Index remainder) {
      return std::max<Index>(0, spec_.kernel - remainder + stride - 1) / stride;
    };
    const auto first = [&](Index remainder) { return ((remainder - spec_.padding) % stride + stride) % stride; };
    const auto count = [&](Index begin, Index length) {
      return begin < length ? (length - 1 - begin) / stride + 1 : 0;
    };
    Remainder r;
    WindowShape& w = r.windows;
    w.rows = meeting(y);
    w.columns = meeting(x);
    w.out_row = first(y);
    w.out_column = first(x);
    w.out_step = stride;
    w.down = count(w.out_row, this->in().height);
    w.across = count(w.out_column, this->in().width);
    w.row = (w.out_row + spec_.padding - y) / stride - (w.rows - 1);
    w.column = (w.out_column + spec_.padding - x) / stride - (w.columns - 1);
    r.last_y = y + (w.rows - 1) * stride;
    r.last_x = x + (w.columns - 1) * stride;
    if (w.down == 0 || w.across == 0) return;
    remainders_.push_back(r);
    delta_left_ = std::max(delta_left_, -w.column);
    delta_right_ = std::max(delta_right_, w.column + w.across - 1 + w.columns - this->out().width);
  }

  /// Returns picture s of the input; with a border it is in the thread's memory.
  PictureOf<T> picture(const MatrixOf<T>& images, Index s) const {
    if (left_ + right_ > 0) return bordered(images, s);
    return {images.data() + s * this->in().size(), this->in().height, this->in().channels, 0,
            this->in().width * this->in().channels};
  }
  PictureOf<T> bordered(const MatrixOf<T>& images, Index s) const {
    thread_local std::vector<T> memory;
    const spec::SampleShape& in = this->in();
    return with_borders<T>(images.data() + s * in.size(), in.height, in.width, in.channels, left_, right_, memory);
  }
  PictureOf<T> delta_picture(const MatrixOf<T>& deltas, Index s) const {
    const spec::SampleShape& out = this->out();
    const T* delta = deltas.data() + s * out.size();
    if (delta_left_ + delta_right_ == 0) return {delta, out.height, out.channels, 0, out.width * out.channels};
    thread_local std::vector<T> memory;
    return with_borders<T>(delta, out.height, out.width, out.channels, delta_left_, delta_right_, memory);
  }

  template <class Body>
  void for_samples(const FlowOf<T>& flow, const Body& body) const {
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), block_, [&](std::size_t begin, std::size_t end) {
      body(static_cast<Index>(begin), static_cast<Index>(end - begin));
    });
  }

  /// Calls body(patch, pixel, count) for each row of the kernel at output pixel (oy, ox): `count` input values from
  /// `pixel` on are copied to `patch`, and the rest of the row is zero. `count` may be 0.
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

  spec::ConvolutionSpec spec_;
  Index width_;
  bool copies_;  ///< false: a patch is a single pixel
  std::size_t block_;
  WindowShape windows_;
  Index left_, right_;  ///< columns of zeros left and right of the input
  std::vector<Remainder> remainders_;
  Index delta_left_ = 0, delta_right_ = 0;
  mutable std::mutex copying_;
};

}  // namespace

template <class T>
OperationPointer<T> make_convolution(const spec::ConvolutionSpec& spec, const spec::SampleShape& in,
                                     ParameterBuilder<T>& parameters) {
  const std::int64_t area = spec.kernel * spec.kernel;
  const bool half_passes = spec.activation == spec::Activation::relu || spec.activation == spec::Activation::gelu;
  const double limit = spec.initial_limit.value_or(initial_limit(half_passes, area * in.channels, area * spec.filters));
  const std::size_t matrix = parameters.matrix(spec.filters, area * in.channels, spec.bias, limit);
  const auto side = [&](std::int64_t length) { return (length + 2 * spec.padding - spec.kernel) / spec.stride + 1; };
  const spec::SampleShape out{side(in.height), side(in.width), spec.filters};
  return std::make_shared<ConvolutionOperation<T>>(spec, in, out, matrix);
}

template OperationPointer<float> make_convolution(const spec::ConvolutionSpec&, const spec::SampleShape&,
                                                  ParameterBuilder<float>&);
template OperationPointer<double> make_convolution(const spec::ConvolutionSpec&, const spec::SampleShape&,
                                                   ParameterBuilder<double>&);

}  // namespace dadsim::models
