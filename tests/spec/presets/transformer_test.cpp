#include <gtest/gtest.h>

#include "spec/model_shape.hpp"
#include "spec/preset.hpp"

namespace dadsim::spec {
namespace {

ModelShape shape(const std::string& name, const ParameterValues& given, const SampleShape& sample,
                 std::int64_t classes) {
  const Preset& preset = *preset_registry().find(name);
  ParameterValues values = default_parameters(preset.parameters);
  for (const auto& [parameter, value] : given) values.at(parameter) = value;
  return model_shape(preset.make(values, sample, classes), sample);
}

SampleShape image(std::int64_t side, std::int64_t channels) {
  return {.height = side, .width = side, .channels = channels};
}

TEST(VitPreset, HasTheParametersOfViTB16AndViTL16) {
  // torchvision's vit_b_16 and vit_l_16 have these numbers of parameters.
  const ModelShape base =
      shape("vit", {{"patch", "16"}, {"width", "768"}, {"heads", "12"}, {"blocks", "12"}, {"hidden", "3072"}},
            image(224, 3), 1000);
  EXPECT_EQ(base.parameters(), 86'567'656);
  const ModelShape large =
      shape("vit", {{"patch", "16"}, {"width", "1024"}, {"heads", "16"}, {"blocks", "24"}, {"hidden", "4096"}},
            image(224, 3), 1000);
  EXPECT_EQ(large.parameters(), 304'326'632);
}

TEST(VitPreset, RefusesPatchesThatDoNotTileTheImage) {
  EXPECT_THROW(shape("vit", {{"patch", "5"}}, image(28, 1), 10), ModelMistake);
  EXPECT_THROW(shape("vit", {{"heads", "5"}}, image(28, 1), 10), ModelMistake);
  EXPECT_EQ(shape("vit", {}, image(28, 1), 10).layers.front().rows_per_sample, 49);
}

TEST(LanguageModelPreset, HasTheParametersOfGpt2) {
  // GPT-2 small has 124,439,808 parameters with its table tied to the last matrix. Without tying and with biases, it
  // has 50,257 · 769 more.
  const SampleShape text{.height = 1, .width = 1024, .channels = 1, .vocabulary = 50257};
  const ModelShape gpt_2 =
      shape("language-model", {{"width", "768"}, {"heads", "12"}, {"blocks", "12"}, {"hidden", "3072"}}, text, 50257);
  EXPECT_EQ(gpt_2.parameters(), 124'439'808 + 50257 * 769);
}

TEST(TransformerClassifierPreset, ReadsNumbersAndSymbols) {
  const ParameterValues small{{"width", "8"}, {"heads", "2"}, {"blocks", "1"}, {"hidden", "16"}};
  const std::int64_t block = 2 * 16 + (8 * 24 + 24) + (8 * 8 + 8) + (8 * 16 + 16) + (16 * 8 + 8);
  const std::int64_t head = 16 + 8 * 3 + 3;
  const SampleShape numbers{.height = 1, .width = 10, .channels = 5};
  EXPECT_EQ(shape("transformer-classifier", small, numbers, 3).parameters(), (5 * 8 + 8) + 10 * 8 + block + head);
  const SampleShape symbols{.height = 1, .width = 10, .channels = 1, .vocabulary = 30};
  EXPECT_EQ(shape("transformer-classifier", small, symbols, 3).parameters(), 30 * 8 + 10 * 8 + block + head);
  ParameterValues token = small;
  token["pooling"] = "class-token";
  EXPECT_EQ(shape("transformer-classifier", token, numbers, 3).parameters(), (5 * 8 + 8) + 8 + 11 * 8 + block + head);
}

TEST(TransformerClassifierPreset, HasDropoutWhereItIsWanted) {
  const SampleShape sample{.height = 1, .width = 10, .channels = 5};
  const auto layers = [&](const char* dropout) {
    return shape("transformer-classifier", {{"dropout", dropout}}, sample, 3).layers.size();
  };
  EXPECT_EQ(layers("0.1"), layers("0") + 1 + 2 * 2) << "after the positions, and in two branches of two blocks";
}

}  // namespace
}  // namespace dadsim::spec
