#include <fmt/format.h>

#include <numeric>

#include "spec/model_shape.hpp"
#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

ModelSpec make_vit(const ParameterValues& values, const SampleShape& sample, std::int64_t classes) {
  const std::int64_t patch = count_of(values, "patch");
  const std::int64_t width = count_of(values, "width");
  if (sample.height % patch != 0 || sample.width % patch != 0) {
    throw ModelMistake(fmt::format("patches of {0} × {0} pixels do not tile an image of {1} × {2}", patch,
                                   sample.height, sample.width),
                       fmt::format("a divisor of {}", std::gcd(sample.height, sample.width)));
  }
  ModelSpec model{.name = "vit", .layers = {}};
  auto& layers = model.layers;
  layers.push_back(ConvolutionSpec{
      .filters = width, .kernel = patch, .stride = patch, .padding = 0, .activation = Activation::identity});
  layers.push_back(ClassTokenSpec{});
  layers.push_back(PositionsSpec{});
  for (std::int64_t i = 0; i < count_of(values, "blocks"); ++i) {
    append_block({.width = width, .heads = count_of(values, "heads"), .hidden = count_of(values, "hidden")}, layers);
  }
  layers.push_back(LayerNormSpec{});
  layers.push_back(SelectSpec{.last = false});
  layers.push_back(DenseSpec{.units = classes, .activation = Activation::identity});
  return model;
}

}  // namespace

Preset vit_preset() {
  return {
      .name = "vit",
      .description =
          "A Vision Transformer: square patches of an image as positions, and a class token for the classifier.",
      .source =
          "Dosovitskiy et al.: An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929; ViT-B/16 is "
          "patch 16, width 768, heads 12, blocks 12, hidden 3072 on 224 × 224 pixels",
      .parameters = {count_parameter("patch", "4", "pixels along a side of a patch; divides both sides of the image"),
                     count_parameter("width", "64", "channels of every position"),
                     count_parameter("heads", "4", "heads of each attention; a divisor of the width"),
                     count_parameter("blocks", "4", "blocks of an attention and two dense layers each"),
                     count_parameter("hidden", "128", "units of the first dense layer of a block")},
      .make = make_vit};
}

}  // namespace dadsim::spec
