#include <gtest/gtest.h>

#include "models/gradient_check.hpp"
#include "spec/preset.hpp"

namespace dadsim::models {
namespace {

/// Replaces ReLU by tanh, as ReLU's kinks are closer together than the step of central differences.
void smooth(std::vector<spec::LayerSpec>& layers) {
  for (spec::LayerSpec& layer : layers) {
    if (auto* norm = std::get_if<spec::BatchNormSpec>(&layer.what);
        norm != nullptr && norm->activation == spec::Activation::relu) {
      norm->activation = spec::Activation::tanh;
    }
    if (auto* residual = std::get_if<spec::ResidualSpec>(&layer.what)) {
      residual->activation = spec::Activation::tanh;
      smooth(residual->layers);
    }
  }
}

TEST(ResNet8, GradientsEqualCentralDifferences) {
  const spec::SampleShape image{.height = 6, .width = 6, .channels = 2};
  spec::ModelSpec model = spec::preset_registry().find("resnet-8")->make({{"width", "2"}}, image, 3);
  smooth(model.layers);
  const std::vector<Eigen::Index> sites{0, 3, 5};
  test::expect_right_gradients(model, image,
                               {.samples = 5, .pass = {.training = true, .sites = sites, .seed = 0, .step = 0}});
}

TEST(ResNet8, SameBitsForAnyNumberOfThreads) {
  const spec::SampleShape image{.height = 16, .width = 16, .channels = 3};
  const spec::ModelSpec model = spec::preset_registry().find("resnet-8")->make({{"width", "8"}}, image, 10);
  const std::vector<Eigen::Index> sites{0, 16, 40};
  test::expect_same_bits_for_thread_counts(model, image, 40, {.training = true, .sites = sites, .seed = 0, .step = 0});
}

}  // namespace
}  // namespace dadsim::models
