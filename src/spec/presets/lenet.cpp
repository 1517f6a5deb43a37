#include "spec/presets/presets.hpp"

namespace dadsim::spec {
namespace {

ModelSpec make_lenet(const ParameterValues& values, const SampleShape&, std::int64_t classes) {
  const Activation activation = values.at("activation") == "tanh" ? Activation::tanh : Activation::relu;
  const PoolSpec pool{.kind = PoolSpec::Kind::maximum, .size = 2, .stride = 2};
  ModelSpec model{.name = "lenet", .layers = {}};
  model.layers = {ConvolutionSpec{.filters = 6, .kernel = 5, .padding = 2, .activation = activation},
                  pool,
                  ConvolutionSpec{.filters = 16, .kernel = 5, .padding = 0, .activation = activation},
                  pool,
                  DenseSpec{.units = 120, .activation = activation},
                  DenseSpec{.units = 84, .activation = activation},
                  DenseSpec{.units = classes, .activation = Activation::identity}};
  return model;
}

}  // namespace

Preset lenet_preset() {
  return {.name = "lenet",
          .description =
              "LeNet-5 in its common form for 28 × 28 pixels: two convolutions, each followed by max pooling of four "
              "pixels, and three dense layers (61,706 parameters on MNIST).",
          .source =
              "LeCun, Bottou, Bengio & Haffner: Gradient-based learning applied to document recognition, Proceedings "
              "of the IEEE 86(11), 1998; with learned means for pooling, and tanh",
          .parameters = {choice_parameter("activation", {"relu", "tanh"}, "activation of every layer but the last")},
          .make = make_lenet};
}

}  // namespace dadsim::spec
