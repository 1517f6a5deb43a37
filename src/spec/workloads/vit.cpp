#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape vit_shape(const std::string& title, const Sizes& sizes) {
  const std::int64_t patch = sizes.at("patch");
  const std::int64_t grid = sizes.at("image") / patch;  // patches along a side
  const std::int64_t tokens = grid * grid + 1;          // and the class token
  ModelShape model;
  model.name = title;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t heads = sizes.at("heads");
  auto& layers = model.layers;
  layers.push_back(convolution_shape(
      "patches", {.channels = 3, .filters = width, .kernel = patch, .size = grid, .bias = true, .stride = patch}));
  layers.push_back(added(vectors_shape("class_and_position", tokens, tokens + 1, width)));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), heads));
    layers.push_back(attention_shape(block + "attention", tokens, width, heads));
    layers.push_back(by_rows(token_dense_shape(block + "projection", tokens, width, width)));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, 4 * width))));
    layers.back().delta_follows = true;  // GELU alone is between them
    layers.push_back(by_rows(token_dense_shape(block + "mlp2", tokens, 4 * width, width)));
  }
  layers.push_back(normalisation_shape("norm", tokens, width));
  layers.push_back(dense_shape("classifier", width, sizes.at("classes"), true));  // on the class token alone
  return model;
}

}  // namespace dadsim::spec
