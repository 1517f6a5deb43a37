#include <fmt/format.h>

#include <array>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Stages of 3×3 convolutions with a max pooling after each (Simonyan, Zisserman, table 1, column D).
struct VggStage {
  int convolutions;
  std::int64_t filters;
};
constexpr std::array<VggStage, 5> kVggStages{{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};

ModelShape vgg_shape() {
  ModelShape model;
  model.name = "VGG-16";
  std::int64_t size = 224;
  std::int64_t channels = 3;
  for (std::size_t stage = 0; stage < kVggStages.size(); ++stage) {
    for (int i = 0; i < kVggStages.at(stage).convolutions; ++i) {
      const std::int64_t filters = kVggStages.at(stage).filters;
      model.layers.push_back(
          convolution_shape(fmt::format("stage{}.conv{}", stage + 1, i + 1),
                            {.channels = channels, .filters = filters, .kernel = 3, .size = size, .bias = true}));
      channels = filters;
    }
    size /= 2;
  }
  model.layers.push_back(dense_shape("fc1", channels * size * size, 4096, true));
  model.layers.push_back(dense_shape("fc2", 4096, 4096, true));
  model.layers.push_back(dense_shape("classifier", 4096, 1000, true));
  return model;
}

}  // namespace

std::vector<Workload> vgg_workloads() {
  return {{.name = "vgg-16",
           .description = "VGG-16 on ImageNet: 224 × 224 pixels, 1,000 classes",
           .source = "Simonyan, Zisserman: Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR "
                     "2015, arXiv:1409.1556, table 1, configuration D",
           .sample = "an image",
           .dataset_size = kImageNetSize,
           .make = [](const Sizes&) { return vgg_shape(); }}};
}

}  // namespace dadsim::spec
