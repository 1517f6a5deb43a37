#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"
#include "spec/workloads/sizes.hpp"

namespace dadsim::spec {
namespace {

/// What the depths differ in (He et al., table 1).
struct Depth {
  const char* name;
  const char* title;
  std::array<int, 4> blocks;  ///< per stage
  bool bottleneck;            ///< blocks of 1×1, 3×3, 1×1; otherwise of two 3×3
};

/// Layers in the order of the forward pass; `size` is the width and height of the image at that point.
class ResNet {
 public:
  ResNet(std::string name, std::int64_t pixels) : size(pixels) { model.name = std::move(name); }

  void convolve(const std::string& name, std::int64_t from, std::int64_t filters, std::int64_t kernel,
                std::int64_t stride = 1) {
    model.layers.push_back(convolution_shape(
        name, {.channels = from, .filters = filters, .kernel = kernel, .size = size, .stride = stride}));
    model.layers.push_back(normalisation_shape(name + ".bn", size * size, filters));
  }

  /// What its norm gives is added to what comes out of the block at once.
  void shortcut(const std::string& name, std::int64_t filters) {
    convolve(name + ".shortcut", channels, filters, 1);
    model.layers.back() = added(std::move(model.layers.back()));
  }

  /// Two 3×3, the first with the stride; where the shape changes, a 1×1 on the shortcut follows them.
  void basic(const std::string& name, std::int64_t filters, std::int64_t stride) {
    size /= stride;
    convolve(name + ".conv1", channels, filters, 3, stride);
    convolve(name + ".conv2", filters, filters, 3);
    if (channels != filters) shortcut(name, filters);
    channels = filters;
  }

  /// A 1×1 narrows to `narrow`, a 3×3 has the stride, a 1×1 widens to four times that; a shortcut as above.
  void bottleneck(const std::string& name, std::int64_t narrow, std::int64_t stride) {
    const std::int64_t wide = 4 * narrow;
    convolve(name + ".conv1", channels, narrow, 1);
    size /= stride;
    convolve(name + ".conv2", narrow, narrow, 3, stride);
    convolve(name + ".conv3", narrow, wide, 1);
    if (channels != wide) shortcut(name, wide);
    channels = wide;
  }

  void stages(const Depth& depth) {
    std::int64_t width = 64;
    for (std::size_t stage = 0; stage < depth.blocks.size(); ++stage, width *= 2) {
      for (int block = 0; block < depth.blocks.at(stage); ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        const std::string name = fmt::format("stage{}.block{}", stage + 1, block + 1);
        depth.bottleneck ? bottleneck(name, width, stride) : basic(name, width, stride);
      }
    }
  }

  ModelShape model;
  std::int64_t size;
  std::int64_t channels = 64;
};

constexpr std::array<Depth, 4> kDepths{{
    {"resnet-18", "ResNet-18", {2, 2, 2, 2}, false},
    {"resnet-50", "ResNet-50", {3, 4, 6, 3}, true},
    {"resnet-101", "ResNet-101", {3, 4, 23, 3}, true},
    {"resnet-152", "ResNet-152", {3, 8, 36, 3}, true},
}};

constexpr std::int64_t kResNetImage = 224;  // pixels along a side

ModelShape imagenet_shape(const Depth& depth, std::int64_t image) {
  constexpr std::int64_t kStrides = 32;  // of all stages together
  if (image % kStrides != 0) throw std::invalid_argument(fmt::format("image {} is no multiple of {}", image, kStrides));
  ResNet net(depth.title, image);
  net.size /= 2;
  net.convolve("conv1", 3, 64, 7, 2);
  net.size /= 2;  // max pooling
  net.stages(depth);
  net.model.layers.push_back(dense_shape("classifier", net.channels, 1000, true));
  return net.model;
}

/// For small images: a first 3×3 without stride, and no pooling after it.
ModelShape cifar_shape() {
  ResNet net("ResNet-18 for CIFAR-10", 32);
  net.convolve("conv1", 3, 64, 3);
  net.stages(kDepths[0]);
  net.model.layers.push_back(dense_shape("classifier", net.channels, 10, true));
  return net.model;
}

constexpr const char* kPaper =
    "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, CVPR 2016, arXiv:1512.03385, table 1";

}  // namespace

std::vector<Workload> resnet_workloads() {
  std::vector<Workload> workloads;
  for (const Depth& depth : kDepths) {
    workloads.push_back(
        {.name = depth.name,
         .description = fmt::format("{} on ImageNet: 224 × 224 pixels, 1,000 classes", depth.title),
         .source = std::string(kPaper) +
                   (depth.bottleneck
                        ? "; the stride sits in the 3×3 convolutions, as in Goyal et al., arXiv:1706.02677, section 5.1"
                        : ""),
         .sample = "an image",
         .dataset_size = kImageNetSize,
         .parameters = {image_parameter(kResNetImage)},
         .make = [depth](const Sizes& sizes) { return imagenet_shape(depth, sizes.at("image")); }});
  }
  workloads.push_back(
      {.name = "resnet-18-cifar10",
       .description = "ResNet-18 on CIFAR-10: 32 × 32 pixels, 10 classes, a first 3×3 convolution without stride or "
                      "pooling",
       .source = std::string(kPaper) +
                 "; the form for small images as PowerSGD uses it (Vogels et al., arXiv:1905.13727, appendix)",
       .sample = "an image",
       .dataset_size = 50'000,
       .make = [](const Sizes&) { return cifar_shape(); }});
  return workloads;
}

}  // namespace dadsim::spec
