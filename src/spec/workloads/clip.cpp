#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape clip_shape(const std::string& title, const Sizes& sizes) {
  ModelShape model{title, {}};
  auto& layers = model.layers;
  const std::int64_t patch = sizes.at("patch");
  const std::int64_t grid = sizes.at("image") / patch;  // patches per side
  const std::int64_t tokens = grid * grid + 1;          // patches and the class token
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t joint = sizes.at("joint");
  const auto add_tower = [&](const std::string& tower, std::int64_t blocks, const BlockForm& form) {
    for (std::int64_t i = 1; i <= blocks; ++i)
      add_transformer_block(layers, fmt::format("{}.block{}.", tower, i), form);
    layers.push_back(normalisation_shape(tower + ".norm", form.tokens, form.width));
    layers.push_back(dense_shape(tower + ".joint", form.width, joint, false));  // for one token only
  };
  layers.push_back(added(vectors_shape("temperature", 1, 1, 1)));
  layers.push_back(convolution_shape(
      "image.patches", {.channels = 3, .filters = width, .kernel = patch, .size = grid, .stride = patch}));
  layers.push_back(added(vectors_shape("image.class_and_position", tokens, tokens + 1, width)));
  layers.push_back(normalisation_shape("image.first_norm", tokens, width));
  add_tower("image", sizes.at("layers"),
            {tokens, width, sizes.at("heads"), size_or(sizes, "feed-forward", 4 * width), false});
  const std::int64_t length = sizes.at("sequence");
  const std::int64_t text = sizes.at("text-hidden");
  layers.push_back(by_entries(embedding_shape("text.words", length, sizes.at("vocabulary"), text)));
  layers.push_back(added(vectors_shape("text.positions", length, length, text)));
  add_tower("text", sizes.at("text-layers"), {length, text, sizes.at("text-heads"), 4 * text, true});
  return model;
}

}  // namespace dadsim::spec
