#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

ModelSpec make_transformer_classifier(const ParameterValues& values, const SampleShape& sample, std::int64_t classes) {
  const std::int64_t width = count_of(values, "width");
  const double dropout = std::stod(values.at("dropout"));
  const bool class_token = values.at("pooling") == "class-token";
  ModelSpec model{.name = "transformer-classifier", .layers = {}};
  auto& layers = model.layers;
  if (sample.vocabulary > 0) {
    layers.push_back(EmbeddingSpec{width});
  } else {
    layers.push_back(
        DenseSpec{.units = width, .activation = Activation::identity, .bias = true, .each_position = true});
  }
  if (class_token) layers.push_back(ClassTokenSpec{});
  layers.push_back(PositionsSpec{});
  if (dropout > 0) layers.push_back(DropoutSpec{dropout});
  for (std::int64_t i = 0; i < count_of(values, "blocks"); ++i) {
    append_block({.width = width,
                  .heads = count_of(values, "heads"),
                  .hidden = count_of(values, "hidden"),
                  .causal = false,
                  .dropout = dropout},
                 layers);
  }
  layers.push_back(LayerNormSpec{});
  if (class_token) {
    layers.push_back(SelectSpec{.last = false});
  } else {
    layers.push_back(MeanSpec{});
  }
  layers.push_back(DenseSpec{.units = classes, .activation = Activation::identity});
  return model;
}

}  // namespace

Preset transformer_classifier_preset() {
  return {
      .name = "transformer-classifier",
      .description =
          "A transformer encoder that gives a sequence one class: numbers are projected to the width at each position, "
          "symbols are looked up.",
      .source =
          "Vaswani et al.: Attention Is All You Need, NeurIPS 2017, arXiv:1706.03762; norms before the "
          "branches: Xiong et al., ICML 2020, arXiv:2002.04745",
      .parameters = {count_parameter("width", "64", "channels of every position"),
                     count_parameter("heads", "4", "heads of each attention; a divisor of the width"),
                     count_parameter("blocks", "2", "blocks of an attention and two dense layers each"),
                     count_parameter("hidden", "256", "units of the first dense layer of a block"),
                     real_parameter("dropout", 0, 0.99, "0.1",
                                    "share of values that training sets to zero after the positions and before every "
                                    "sum; 0: no such layers"),
                     choice_parameter(
                         "pooling", {"mean", "class-token"},
                         "input of the classifier: the mean over all positions, or a learned position before them")},
      .make = make_transformer_classifier};
}

}  // namespace dadsim::spec
