#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

ModelSpec make_language_model(const ParameterValues& values, const SampleShape&, std::int64_t classes) {
  const std::int64_t width = count_of(values, "width");
  ModelSpec model{.name = "language-model", .layers = {}};
  auto& layers = model.layers;
  layers.push_back(EmbeddingSpec{width});
  layers.push_back(PositionsSpec{});
  for (std::int64_t i = 0; i < count_of(values, "blocks"); ++i) {
    append_block(
        {.width = width, .heads = count_of(values, "heads"), .hidden = count_of(values, "hidden"), .causal = true},
        layers);
  }
  layers.push_back(LayerNormSpec{});
  layers.push_back(
      DenseSpec{.units = classes, .activation = Activation::identity, .bias = true, .each_position = true});
  return model;
}

}  // namespace

Preset language_model_preset() {
  return {.name = "language-model",
          .description = "A transformer decoder that scores the next symbol at every position.",
          .source =
              "Radford et al.: Language Models are Unsupervised Multitask Learners (GPT-2), 2019; here the table is "
              "not tied to the last matrix",
          .parameters = {count_parameter("width", "64", "channels of every position"),
                         count_parameter("heads", "4", "heads of each attention; a divisor of the width"),
                         count_parameter("blocks", "2", "blocks of an attention and two dense layers each"),
                         count_parameter("hidden", "256", "units of the first dense layer of a block")},
          .make = make_language_model};
}

}  // namespace dadsim::spec
