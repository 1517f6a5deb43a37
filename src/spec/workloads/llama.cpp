#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape llama_shape(const std::string& title, const Sizes& sizes) {
  ModelShape model;
  model.name = title;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t tokens = sizes.at("sequence");
  const std::int64_t heads = sizes.at("heads");
  const std::int64_t key_heads = sizes.at("kv-heads");
  const std::int64_t between = sizes.at("feed-forward");
  const std::int64_t vocabulary = sizes.at("vocabulary");
  const std::int64_t keys = width / heads * key_heads;
  auto& layers = model.layers;
  const auto dense = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return token_dense_shape(name, tokens, in, out, false);
  };
  layers.push_back(by_entries(embedding_shape("words", tokens, vocabulary, width)));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(rms_normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(dense(block + "query", width, width), heads));
    layers.push_back(by_columns(dense(block + "key", width, keys), key_heads));
    layers.push_back(by_columns(dense(block + "value", width, keys), key_heads));
    layers.push_back(attention_shape(block + "attention", tokens, width, heads, {.causal = true}));
    layers.push_back(by_rows(dense(block + "projection", width, width)));
    layers.push_back(rms_normalisation_shape(block + "norm2", tokens, width));
    // SwiGLU (Shazeer, 2020, arXiv:2002.05202): down(silu(gate(x)) ⊙ up(x)). Kept are what comes out of gate and up, of
    // silu, and of the product.
    layers.push_back(with_gelu(by_columns(dense(block + "gate", width, between))));
    layers.push_back(with_gelu(by_columns(dense(block + "up", width, between))));
    layers.push_back(by_rows(dense(block + "down", between, width)));
  }
  layers.push_back(rms_normalisation_shape("norm", tokens, width));
  layers.push_back(with_softmax(by_entries(dense("decoder", width, vocabulary))));
  return model;
}

}  // namespace dadsim::spec
