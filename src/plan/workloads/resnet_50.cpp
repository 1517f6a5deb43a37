#include "plan/workloads/resnet_50.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "plan/workloads/layers.hpp"

namespace dadsim {
namespace {

/// Layers in the order of the forward pass; `size` is the width and height of the image at that point.
class ResNet {
 public:
  void convolve(const std::string& name, std::int64_t channels, std::int64_t filters, std::int64_t kernel) {
    model.layers.push_back(
        convolution_shape(name, {.channels = channels, .filters = filters, .kernel = kernel, .size = size}));
    model.layers.push_back(normalisation_shape(name + ".bn", size * size, filters));
  }

  /// A bottleneck block: 1×1 narrows to `narrow`, 3×3 with the stride, 1×1 widens to four times that; where the shape
  /// changes, a 1×1 on the shortcut follows it.
  void bottleneck(const std::string& name, std::int64_t channels, std::int64_t narrow, std::int64_t stride) {
    const std::int64_t wide = 4 * narrow;
    convolve(name + ".conv1", channels, narrow, 1);
    size /= stride;
    convolve(name + ".conv2", narrow, narrow, 3);
    convolve(name + ".conv3", narrow, wide, 1);
    if (channels != wide) convolve(name + ".shortcut", channels, wide, 1);
  }

  ModelShape model;
  std::int64_t size = 224;
};

ModelShape shape() {
  ResNet net;
  net.model.name = "ResNet-50";
  net.size /= 2;
  net.convolve("conv1", 3, 64, 7);
  net.size /= 2;  // max pooling

  constexpr std::array<int, 4> kBlocks{3, 4, 6, 3};
  std::int64_t channels = 64;
  std::int64_t narrow = 64;
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    for (int block = 0; block < kBlocks[stage]; ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      net.bottleneck(fmt::format("stage{}.block{}", stage + 1, block + 1), channels, narrow, stride);
      channels = 4 * narrow;
    }
    narrow *= 2;
  }
  net.model.layers.push_back(dense_shape("classifier", channels, 1000, true));
  return net.model;
}

}  // namespace

Workload resnet_50_workload() {
  return {
      "resnet-50", "ResNet-50 on ImageNet: 224 × 224 pixels, 1,000 classes; a sample is an image",
      "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, CVPR 2016, arXiv:1512.03385, table 1; the "
      "stride sits in the 3×3 convolutions, as in Goyal et al., arXiv:1706.02677, section 5.1",
      shape};
}

}  // namespace dadsim
