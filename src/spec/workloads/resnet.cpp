#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Adds layers in the order of the forward pass; `size` is the current width and height of the image.
class ResNet {
 public:
  ResNet(std::string name, std::int64_t pixels) : size(pixels) { model.name = std::move(name); }

  void convolve(const std::string& name, std::int64_t from, std::int64_t filters, std::int64_t kernel,
                std::int64_t stride = 1) {
    model.layers.push_back(convolution_shape(
        name, {.channels = from, .filters = filters, .kernel = kernel, .size = size, .stride = stride}));
    model.layers.push_back(normalisation_shape(name + ".bn", size * size, filters));
  }

  /// Adds the shortcut's convolution. The output of its norm is added to the block's output at once.
  void shortcut(const std::string& name, std::int64_t filters) {
    convolve(name + ".shortcut", channels, filters, 1);
    model.layers.back() = added(std::move(model.layers.back()));
  }

  /// Adds two 3×3 convolutions, the first with the stride. If the channels change, adds a 1×1 on the shortcut.
  void basic(const std::string& name, std::int64_t filters, std::int64_t stride) {
    size /= stride;
    convolve(name + ".conv1", channels, filters, 3, stride);
    convolve(name + ".conv2", filters, filters, 3);
    if (channels != filters) shortcut(name, filters);
    channels = filters;
  }

  /// Adds a 1×1 that narrows to `narrow`, a 3×3 with the stride, and a 1×1 that widens to four times `narrow`. If
  /// the channels change, adds a 1×1 on the shortcut.
  void bottleneck(const std::string& name, std::int64_t narrow, std::int64_t stride) {
    const std::int64_t wide = 4 * narrow;
    convolve(name + ".conv1", channels, narrow, 1);
    size /= stride;
    convolve(name + ".conv2", narrow, narrow, 3, stride);
    convolve(name + ".conv3", narrow, wide, 1);
    if (channels != wide) shortcut(name, wide);
    channels = wide;
  }

  void stages(const Sizes& sizes) {
    std::int64_t width = 64;
    for (int stage = 1; stage <= 4; ++stage, width *= 2) {
      for (std::int64_t block = 0; block < sizes.at(fmt::format("stage{}", stage)); ++block) {
        const std::int64_t stride = stage > 1 && block == 0 ? 2 : 1;
        const std::string name = fmt::format("stage{}.block{}", stage, block + 1);
        sizes.at("bottleneck") != 0 ? bottleneck(name, width, stride) : basic(name, width, stride);
      }
    }
  }

  ModelShape model;
  std::int64_t size;
  std::int64_t channels = 64;
};

}  // namespace

ModelShape resnet_shape(const std::string& title, const Sizes& sizes) {
  constexpr std::int64_t kStrides = 32;  // product of all stages' strides
  const std::int64_t image = sizes.at("image");
  const bool pooled = sizes.at("stem-pooling") != 0;
  if (pooled && image % kStrides != 0)
    throw std::invalid_argument(fmt::format("image {} is no multiple of {}", image, kStrides));
  ResNet net(title, pooled ? image / 2 : image);
  pooled ? net.convolve("conv1", 3, 64, 7, 2) : net.convolve("conv1", 3, 64, 3);
  if (pooled) net.size /= 2;  // max pooling
  net.stages(sizes);
  net.model.layers.push_back(dense_shape("classifier", net.channels, sizes.at("classes"), true));
  return net.model;
}

}  // namespace dadsim::spec
