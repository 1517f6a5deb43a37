#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "models/kernels/array_kernels.hpp"
#include "models/operations/operations.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// Pooling over windows of size × size pixels, channel by channel, without padding; H' = ⌊(H − size) ÷ stride⌋ + 1.
/// Maximum: y = the largest value of the window, the first of equal ones; only its pixel gets the value_gradient; NaN
/// wins. Mean: y = Σ x ÷ size².
template <class T>
class Pool final : public OperationOf<T> {
 public:
  Pool(const spec::PoolSpec& spec, const spec::SampleShape& in, const spec::SampleShape& out)
      : OperationOf<T>(in, out), spec_(spec) {}

  void forward(const FlowOf<T>& flow) const override {
    flow.output.resize(flow.samples(), this->out().size());
    const bool maximum = spec_.kind == spec::PoolSpec::Kind::maximum;
    if (maximum) flow.scratch.indices.resize(static_cast<std::size_t>(flow.output.size()));
    for_samples(flow, [&](Index sample) {
      const T* image = flow.input.data() + sample * this->in().size();
      T* y = flow.output.data() + sample * this->out().size();
      if (maximum) {
        take_largest(image, y, flow.scratch.indices.data() + sample * this->out().size());
      } else {
        take_mean(image, y);
      }
    });
  }

  void backward(const FlowOf<T>&) const override {}

  void backpropagate(const FlowOf<T>& flow, MatrixOf<T>& value_gradient, bool add) const override {
    value_gradient.resize(flow.samples(), this->in().size());
    for_samples(flow, [&](Index sample) {
      T* image = value_gradient.data() + sample * this->in().size();
      const T* dy = flow.value_gradient.data() + sample * this->out().size();
      if (!add) std::fill_n(image, this->in().size(), T(0));
      if (spec_.kind == spec::PoolSpec::Kind::maximum) {
        const std::int32_t* chosen = flow.scratch.indices.data() + sample * this->out().size();
        for (Index i = 0; i < this->out().size(); ++i) image[chosen[i]] += dy[i];
      } else {
        for_windows([&](Index pixel, Index from, bool) {
          for (Index c = 0; c < this->in().channels; ++c) image[pixel + c] += dy[from + c] * share();
        });
      }
    });
  }

 private:
  T share() const { return T(1) / static_cast<T>(spec_.size * spec_.size); }

  template <class Body>
  void for_samples(const FlowOf<T>& flow, const Body& body) const {
    constexpr std::size_t kBlockValues = 16384;
    const std::size_t block = std::max<std::size_t>(1, kBlockValues / static_cast<std::size_t>(this->in().size()));
    parallel_for_blocks(static_cast<std::size_t>(flow.samples()), block, [&](std::size_t begin, std::size_t end) {
      for (std::size_t sample = begin; sample < end; ++sample) body(static_cast<Index>(sample));
    });
  }

  /// Calls body(input pixel, output pixel, first of its window) for every pixel of every window; pixels are given by
  /// the index of their first channel.
  template <class Body>
  void for_windows(const Body& body) const {
    const spec::SampleShape& in = this->in();
    const spec::SampleShape& out = this->out();
    for (Index oy = 0; oy < out.height; ++oy) {
      for (Index ox = 0; ox < out.width; ++ox) {
        for (Index ky = 0; ky < spec_.size; ++ky) {
          for (Index kx = 0; kx < spec_.size; ++kx) {
            const Index pixel = (oy * spec_.stride + ky) * in.width + ox * spec_.stride + kx;
            body(pixel * in.channels, (oy * out.width + ox) * out.channels, ky == 0 && kx == 0);
          }
        }
      }
    }
  }

  /// Copies in pieces that may reach up to kPiece − 1 numbers beyond the end of `from` and `to`. A memmove call for the
  /// few channels of a pixel takes longer than the copy itself.
  static constexpr Index kPiece = 8;
  template <class Number>
  static void copy_channels(const Number* from, Index channels, Number* to) {
    for (Index c = 0; c < channels; c += kPiece) std::memcpy(to + c, from + c, kPiece * sizeof(Number));
  }

  /// Finds the largest value of each window and its position; the first of equal ones, in row order. Each row of
  /// windows is reduced vertically and then horizontally, so that both passes run along memory.
  void take_largest(const T* image, T* y, std::int32_t* chosen) const {
    thread_local std::vector<T> values, candidates, largest;
    thread_local std::vector<std::int32_t> places, candidate_places, largest_places;
    const Index channels = this->in().channels;
    const Index row = this->in().width * channels;
    const Index out_row = this->out().width * channels;
    const auto size = static_cast<std::size_t>(row + kPiece);
    for (auto* memory : {&values, &candidates, &largest}) memory->resize(size);
    for (auto* memory : {&places, &candidate_places, &largest_places}) memory->resize(size);
    for (Index oy = 0; oy < this->out().height; ++oy, y += out_row, chosen += out_row) {
      auto place = static_cast<std::int32_t>(oy * spec_.stride * row);
      std::copy_n(image + place, row, values.data());
      std::iota(places.begin(), places.begin() + row, place);
      for (Index ky = 1; ky < spec_.size; ++ky) {
        place += static_cast<std::int32_t>(row);
        std::iota(candidate_places.begin(), candidate_places.begin() + row, place);
        array_kernels_of<T>().take_larger(row, image + place, candidate_places.data(), values.data(), places.data());
      }
      for (Index kx = 0; kx < spec_.size; ++kx) {
        T* to = kx == 0 ? largest.data() : candidates.data();
        std::int32_t* to_place = kx == 0 ? largest_places.data() : candidate_places.data();
        for (Index ox = 0; ox < this->out().width; ++ox) {
          const Index from = (ox * spec_.stride + kx) * channels;
          copy_channels(values.data() + from, channels, to + ox * channels);
          copy_channels(places.data() + from, channels, to_place + ox * channels);
        }
        if (kx > 0) array_kernels_of<T>().take_larger(out_row, to, to_place, largest.data(), largest_places.data());
      }
      std::copy_n(largest.data(), out_row, y);
      std::copy_n(largest_places.data(), out_row, chosen);
    }
  }

  void take_mean(const T* image, T* y) const {
    for_windows([&](Index pixel, Index to, bool first) {
      for (Index c = 0; c < this->in().channels; ++c) y[to + c] = (first ? T(0) : y[to + c]) + image[pixel + c];
    });
    for (Index i = 0; i < this->out().size(); ++i) y[i] *= share();
  }

  spec::PoolSpec spec_;
};

}  // namespace

template <class T>
OperationPointer<T> make_pool(const spec::PoolSpec& spec, const spec::SampleShape& in) {
  const auto side = [&](std::int64_t length) { return (length - spec.size) / spec.stride + 1; };
  return std::make_shared<Pool<T>>(spec, in, spec::SampleShape{side(in.height), side(in.width), in.channels});
}

template OperationPointer<float> make_pool(const spec::PoolSpec&, const spec::SampleShape&);
template OperationPointer<double> make_pool(const spec::PoolSpec&, const spec::SampleShape&);

}  // namespace dadsim::models
