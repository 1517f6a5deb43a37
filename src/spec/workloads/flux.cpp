#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape flux_shape(const std::string& title, const Sizes& sizes) {
  constexpr std::int64_t kChannels = 64;  // numbers per patch of 2 × 2 latents, each of 8 × 8 pixels
  constexpr std::int64_t kPatch = 16;     // pixels per side of a patch
  constexpr std::int64_t kFrequencies = 256;
  ModelShape model{title, {}};
  auto& layers = model.layers;
  const std::int64_t side = sizes.at("image") / kPatch;
  const std::int64_t image = side * side;
  const std::int64_t text = sizes.at("text-length");
  const std::int64_t all = image + text;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t heads = sizes.at("heads");
  const std::int64_t head = width / heads;
  const std::int64_t between = sizes.at("feed-forward");
  const auto add = [&](LayerShape layer) { layers.push_back(std::move(layer)); };
  const auto dense = [&](const std::string& name, std::int64_t tokens, std::int64_t in, std::int64_t out) {
    add(token_dense_shape(name, tokens, in, out));
  };
  const auto add_embedding = [&](const std::string& name, std::int64_t in) {
    dense(name + "1", 1, in, width);
    dense(name + "2", 1, width, width);
  };
  const auto add_norms_of_heads = [&](const std::string& name, std::int64_t tokens) {
    LayerShape norms = rms_normalisation_shape(name, tokens, 2 * width);
    norms.parameters = 2 * head;  // scales of queries and keys, common to all heads
    add(norms);
  };
  dense("image", image, kChannels, width);
  add_embedding("time", kFrequencies);
  if (sizes.at("guidance") != 0) add_embedding("guidance", kFrequencies);
  add_embedding("summary", sizes.at("summary"));
  dense("text", text, sizes.at("text-hidden"), width);
  const std::int64_t doubles = sizes.at("double-layers");
  for (std::int64_t i = 1; i <= doubles; ++i) {
    const std::string block = fmt::format("block{}.", i);
    for (const auto& [stream, tokens] : {std::pair{"image", image}, std::pair{"text", text}}) {
      dense(block + stream + ".modulation", 1, width, 6 * width);
      add(by_columns(token_dense_shape(block + stream + ".qkv", tokens, width, 3 * width), heads));
      add_norms_of_heads(block + stream + ".qk_norm", tokens);
    }
    add(attention_shape(block + "attention", all, width, heads));
    for (const auto& [stream, tokens] : {std::pair{"image", image}, std::pair{"text", text}}) {
      add(by_rows(token_dense_shape(block + stream + ".projection", tokens, width, width)));
      add(with_gelu(by_columns(token_dense_shape(block + stream + ".mlp1", tokens, width, between))));
      add(by_rows(token_dense_shape(block + stream + ".mlp2", tokens, between, width)));
    }
  }
  for (std::int64_t i = doubles + 1; i <= doubles + sizes.at("single-layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    dense(block + "modulation", 1, width, 3 * width);
    dense(block + "qkv_and_mlp", all, width, 3 * width + between);
    add_norms_of_heads(block + "qk_norm", all);
    add(attention_shape(block + "attention", all, width, heads));
    dense(block + "projection", all, width + between, width);
  }
  dense("modulation", 1, width, 2 * width);
  dense("last", image, width, kChannels);
  return model;
}

}  // namespace dadsim::spec
