#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape vgg_shape(const std::string& title, const Sizes& sizes) {
  constexpr std::array<std::int64_t, 5> kFilters{64, 128, 256, 512, 512};
  ModelShape model;
  model.name = title;
  std::int64_t size = sizes.at("image");
  std::int64_t channels = 3;
  for (std::size_t stage = 0; stage < kFilters.size(); ++stage) {
    const std::int64_t filters = kFilters.at(stage);
    for (std::int64_t i = 0; i < sizes.at(fmt::format("stage{}", stage + 1)); ++i) {
      model.layers.push_back(
          convolution_shape(fmt::format("stage{}.conv{}", stage + 1, i + 1),
                            {.channels = channels, .filters = filters, .kernel = 3, .size = size, .bias = true}));
      channels = filters;
    }
    size /= 2;
  }
  model.layers.push_back(dense_shape("fc1", channels * size * size, 4096, true));
  model.layers.push_back(dense_shape("fc2", 4096, 4096, true));
  model.layers.push_back(dense_shape("classifier", 4096, sizes.at("classes"), true));
  return model;
}

}  // namespace dadsim::spec
