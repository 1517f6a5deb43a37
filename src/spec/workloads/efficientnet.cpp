#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// A stage of EfficientNet-B0 (Tan, Le, table 1): inverted bottlenecks. Other sizes are scaled from B0.
struct EfficientNetStage {
  std::int64_t expansion, kernel, stride, in, out, blocks;
};
constexpr EfficientNetStage kStages[] = {{1, 3, 1, 32, 16, 1},  {6, 3, 2, 16, 24, 2},  {6, 5, 2, 24, 40, 2},
                                         {6, 3, 2, 40, 80, 3},  {6, 5, 1, 80, 112, 3}, {6, 5, 2, 112, 192, 4},
                                         {6, 3, 1, 192, 320, 1}};

/// Returns `channels` rounded to a multiple of eight, at least eight and at least nine tenths of `channels`.
std::int64_t rounded(double channels) {
  const std::int64_t near = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(near) < 0.9 * channels ? near + 8 : near;
}

/// Returns a depthwise convolution, without a matrix product because each channel sees only itself.
LayerShape depthwise(const std::string& name, std::int64_t channels, std::int64_t kernel, std::int64_t size) {
  LayerShape shape = vectors_shape(name, size * size, 1, channels);
  shape.parameters = channels * kernel * kernel;
  shape.forward_macs_per_sample = static_cast<double>(size * size * shape.parameters);
  return shape;
}

}  // namespace

ModelShape efficientnet_shape(const std::string& title, const Sizes& sizes) {
  constexpr double kTenth = 0.1;
  const double wider = kTenth * static_cast<double>(sizes.at("width-tenths"));
  const double deeper = kTenth * static_cast<double>(sizes.at("depth-tenths"));
  ModelShape model{title, {}};
  std::int64_t size = (sizes.at("image") + 1) / 2;
  const auto add = [&](LayerShape layer) { model.layers.push_back(std::move(layer)); };
  const auto convolve = [&](const std::string& name, std::int64_t from, std::int64_t filters, std::int64_t kernel,
                            std::int64_t stride = 1) {
    add(convolution_shape(name,
                          {.channels = from, .filters = filters, .kernel = kernel, .size = size, .stride = stride}));
    add(normalisation_shape(name + ".bn", size * size, filters));
  };
  convolve("first", 3, rounded(32 * wider), 3, 2);
  std::int64_t channels = rounded(32 * wider);
  int number = 0;
  for (const EfficientNetStage& stage : kStages) {
    const auto blocks = static_cast<std::int64_t>(std::ceil(deeper * static_cast<double>(stage.blocks) - 1e-9));
    const std::int64_t out = rounded(static_cast<double>(stage.out) * wider);
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::string block = fmt::format("block{}.", ++number);
      const std::int64_t wide = channels * stage.expansion;
      if (stage.expansion != 1) convolve(block + "expand", channels, wide, 1);
      if (i == 0) size = (size + stage.stride - 1) / stage.stride;
      add(depthwise(block + "depthwise", wide, stage.kernel, size));
      add(normalisation_shape(block + "depthwise.bn", size * size, wide));
      const std::int64_t narrow = std::max<std::int64_t>(1, channels / 4);
      add(dense_shape(block + "squeeze", wide, narrow, true));
      add(dense_shape(block + "excite", narrow, wide, true));
      convolve(block + "project", wide, out, 1);
      channels = out;
    }
  }
  convolve("last", channels, 4 * channels, 1);
  add(dense_shape("classifier", 4 * channels, sizes.at("classes"), true));
  return model;
}

}  // namespace dadsim::spec
