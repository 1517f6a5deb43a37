#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape vit_shape(const std::string& title, const Sizes& sizes) {
  const std::int64_t patch = sizes.at("patch");
  const std::int64_t grid = sizes.at("image") / patch;  // patches per side
  const std::int64_t tokens = grid * grid + 1;          // patches and the class token
  const bool scaled = size_or(sizes, "layer-scale", 0) != 0;
  ModelShape model;
  model.name = title;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t heads = sizes.at("heads");
  auto& layers = model.layers;
  layers.push_back(convolution_shape(
      "patches", {.channels = 3, .filters = width, .kernel = patch, .size = grid, .bias = true, .stride = patch}));
  const std::int64_t between = size_or(sizes, "feed-forward", 4 * width);
  // A layer scale implies a token for masked patches.
  layers.push_back(added(vectors_shape("class_and_position", tokens, tokens + (scaled ? 2 : 1), width)));
  const auto add_scale = [&](const std::string& name) {
    if (scaled) layers.push_back(added(vectors_shape(name, tokens, 1, width)));
  };
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), heads));
    layers.push_back(attention_shape(block + "attention", tokens, width, heads));
    layers.push_back(by_rows(token_dense_shape(block + "projection", tokens, width, width)));
    add_scale(block + "scale1");
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
    const bool gated = size_or(sizes, "gated", 0) != 0;
    if (gated) layers.push_back(with_gelu(by_columns(token_dense_shape(block + "gate", tokens, width, between))));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, between))));
    layers.back().delta_follows = !gated;  // only GELU is between them
    layers.push_back(by_rows(token_dense_shape(block + "mlp2", tokens, between, width)));
    add_scale(block + "scale2");
  }
  layers.push_back(normalisation_shape("norm", tokens, width));
  if (const std::int64_t classes = size_or(sizes, "classes", 0); classes > 0)
    layers.push_back(dense_shape("classifier", width, classes, true));  // for the class token only
  return model;
}

}  // namespace dadsim::spec
