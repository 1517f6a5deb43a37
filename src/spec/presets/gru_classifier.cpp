#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

ModelSpec make_gru_classifier(const ParameterValues& values, const SampleShape&, std::int64_t classes) {
  const bool bias = values.at("bias") == "true";
  ModelSpec model{.name = "gru-classifier", .layers = {}};
  model.layers = {RecurrentSpec{.cell = RecurrentSpec::Cell::gru, .units = count_of(values, "hidden"), .bias = bias},
                  DenseSpec{.units = 512, .bias = bias}, DenseSpec{.units = 256, .bias = bias},
                  DenseSpec{.units = classes, .activation = Activation::identity, .bias = bias}};
  return model;
}

}  // namespace

Preset gru_classifier_preset() {
  return {.name = "gru-classifier",
          .description =
              "A gated recurrent unit over a sequence; a perceptron of 512 and 256 units classifies all its states "
              "together.",
          .source = "Baker, Calhoun, Pearlmutter, Plis: Efficient Distributed Auto-Differentiation, arXiv:2102.09631",
          .parameters = {count_parameter("hidden", "64", "units of the recurrent layer"),
                         choice_parameter("bias", "false", {"true", "false"}, "whether the layers have biases")},
          .make = make_gru_classifier};
}

}  // namespace dadsim::spec
