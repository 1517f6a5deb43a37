#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

ConvolutionSpec convolution(std::int64_t filters, std::int64_t kernel, std::int64_t stride) {
  return {.filters = filters,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .activation = Activation::identity,
          .bias = false};
}

ModelSpec make_resnet_8(const ParameterValues& values, const SampleShape&, std::int64_t classes) {
  const BatchNormSpec norm{};
  const BatchNormSpec norm_relu{.activation = Activation::relu};
  std::int64_t width = count_of(values, "width");
  ModelSpec model{.name = "resnet-8", .layers = {}};
  model.layers = {convolution(width, 3, 1), norm_relu};
  for (int stage = 0; stage < 3; ++stage, width *= 2) {
    const std::int64_t stride = stage == 0 ? 1 : 2;
    ResidualSpec block;
    block.layers = {convolution(width, 3, stride), norm_relu, convolution(width, 3, 1), norm};
    if (stage > 0) block.shortcut = {convolution(width, 1, stride), norm};
    block.activation = Activation::relu;
    model.layers.push_back(block);
  }
  model.layers.push_back(MeanSpec{});
  model.layers.push_back(DenseSpec{.units = classes, .activation = Activation::identity});
  return model;
}

}  // namespace

Preset resnet_8_preset() {
  return {
      .name = "resnet-8",
      .description =
          "The smallest ResNet for small images: a convolution and three residual blocks of two convolutions each, "
          "with batch norms. From block to block the pixels halve and the channels double. The mean over all "
          "pixels follows (78,042 parameters on CIFAR-10).",
      .source =
          "He, Zhang, Ren & Sun: Deep residual learning for image recognition, CVPR 2016, arXiv:1512.03385, "
          "section 4.2 with n = 1, and projections where shapes change (option B)",
      .parameters = {count_parameter("width", "16", "channels of the first block; the last has four times as many")},
      .make = make_resnet_8};
}

}  // namespace dadsim::spec
