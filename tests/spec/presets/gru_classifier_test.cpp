#include <gtest/gtest.h>

#include <algorithm>

#include "spec/model_shape.hpp"
#include "spec/preset.hpp"

namespace dadsim::spec {
namespace {

constexpr std::int64_t kBatch = 32;

/// Returns the network that arXiv:2102.09631 trains on multivariate series.
ModelShape shape_for(std::int64_t steps, std::int64_t features, std::int64_t classes) {
  const Preset& preset = *preset_registry().find("gru-classifier");
  const SampleShape sample{.height = 1, .width = steps, .channels = features};
  return model_shape(preset.make(default_parameters(preset.parameters), sample, classes), sample);
}

/// Floats that a site sends per step, by method.
struct Payload {
  std::int64_t gradient_sharing = 0;  ///< all gradients
  std::int64_t dad = 0;               ///< A and Δ of each layer
  std::int64_t rank_dad = 0;          ///< factors of rank min(8, in, out)
  bool operator==(const Payload&) const = default;
};

Payload payload(const ModelShape& shape) {
  Payload sum;
  for (const LayerShape& layer : shape.layers) {
    sum.gradient_sharing += layer.parameters;
    if (!layer.has_outer_product()) continue;
    sum.dad += kBatch * layer.rows_per_sample * (layer.in + layer.out);
    sum.rank_dad += std::min({std::int64_t{8}, layer.in, layer.out}) * (layer.in + layer.out);
  }
  return sum;
}

TEST(GruClassifier, PayloadsOfSpokenArabicDigits) {
  EXPECT_EQ(payload(shape_for(93, 13, 10)), (Payload{3'195'840, 1'611'872, 63'672}));
}

TEST(GruClassifier, PayloadsOfPemsSf) {
  EXPECT_EQ(payload(shape_for(144, 963, 7)), (Payload{5'048'640, 6'846'176, 97'097}));
}

TEST(GruClassifier, BiasesAreOnePerOutputOfEachMatrix) {
  const Preset& preset = *preset_registry().find("gru-classifier");
  ParameterValues values = default_parameters(preset.parameters);
  const SampleShape sample{.height = 1, .width = 93, .channels = 13};
  values["bias"] = "true";
  values["hidden"] = "32";
  const ModelShape shape = model_shape(preset.make(values, sample, 10), sample);
  EXPECT_EQ(shape.parameters(), 96 * 13 + 96 * 32 + 2 * 96 + (93 * 32 + 1) * 512 + 513 * 256 + 257 * 10);
}

}  // namespace
}  // namespace dadsim::spec
