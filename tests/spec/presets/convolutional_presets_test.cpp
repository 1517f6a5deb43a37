#include <gtest/gtest.h>

#include "spec/model_shape.hpp"
#include "spec/preset.hpp"

namespace dadsim::spec {
namespace {

constexpr SampleShape kMnist{.height = 28, .width = 28, .channels = 1};
constexpr SampleShape kCifar{.height = 32, .width = 32, .channels = 3};

ModelSpec make(const char* name, const SampleShape& sample, std::int64_t classes = 10, ParameterValues given = {}) {
  const Preset* preset = preset_registry().find(name);
  if (preset == nullptr) throw std::logic_error("no such preset");
  for (const auto& [parameter, value] : default_parameters(preset->parameters)) given.emplace(parameter, value);
  return preset->make(given, sample, classes);
}

TEST(LeNet, HasTheParametersThatItIsKnownFor) {
  const ModelShape shape = model_shape(make("lenet", kMnist), kMnist);
  // Weights and biases by layer: 6·(25+1) + 16·(6·25+1) + 120·(400+1) + 84·(120+1) + 10·(84+1).
  EXPECT_EQ(shape.parameters(), 61706);
  EXPECT_EQ(shape.name, "lenet");
  EXPECT_EQ(shape.layers.front().rows_per_sample, 784);
}

TEST(LeNet, ActivationIsAParameter) {
  for (const LayerSpec& layer : make("lenet", kMnist, 10, {{"activation", "tanh"}}).layers) {
    if (const auto* convolution = std::get_if<ConvolutionSpec>(&layer.what)) {
      EXPECT_EQ(convolution->activation, Activation::tanh);
    }
  }
}

TEST(LeNet, NeedsAnImage) {
  const SampleShape row{.height = 1, .width = 784, .channels = 1};
  EXPECT_THROW(model_shape(make("lenet", row), row), ModelMistake);
}

TEST(ResNet8, HasTheLayersOfThePaper) {
  const ModelShape shape = model_shape(make("resnet-8", kCifar), kCifar);
  // Convolutions have 432 + 2·2304 + (4608 + 9216 + 512) + (18432 + 36864 + 2048) weights, norms two per channel,
  // 2·(3·16 + 3·32 + 3·64), and the classifier 64·10 + 10.
  EXPECT_EQ(shape.parameters(), 78042);
  EXPECT_EQ(shape.name, "resnet-8");
  std::vector<std::int64_t> rows, filters;
  for (const LayerShape& layer : shape.layers) {
    if (layer.kind != LayerKind::convolution) continue;
    rows.push_back(layer.rows_per_sample);
    filters.push_back(layer.out);
    EXPECT_FALSE(layer.bias);
  }
  EXPECT_EQ(rows, (std::vector<std::int64_t>{1024, 1024, 1024, 256, 256, 256, 64, 64, 64}));
  EXPECT_EQ(filters, (std::vector<std::int64_t>{16, 16, 16, 32, 32, 32, 64, 64, 64}));
}

TEST(ResNet8, WidthIsAParameter) {
  const ModelSpec model = make("resnet-8", kMnist, 7, {{"width", "4"}});
  EXPECT_EQ(std::get<ConvolutionSpec>(model.layers.front().what).filters, 4);
  EXPECT_EQ(std::get<DenseSpec>(model.layers.back().what).units, 7);
  EXPECT_EQ(model_shape(model, kMnist).layers.back().in, 16);
}

}  // namespace
}  // namespace dadsim::spec
