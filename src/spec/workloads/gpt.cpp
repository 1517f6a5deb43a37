#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape gpt_shape(const std::string& title, const Sizes& sizes) {
  ModelShape model;
  model.name = title;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t tokens = sizes.at("sequence");
  const std::int64_t heads = sizes.at("heads");
  const std::int64_t vocabulary = sizes.at("vocabulary");
  const bool dropout = sizes.at("dropout") != 0;
  const auto dropped = [dropout](LayerShape shape) { return dropout ? with_dropout(std::move(shape)) : shape; };
  auto& layers = model.layers;
  layers.push_back(by_entries(embedding_shape("words", tokens, vocabulary, width)));
  layers.push_back(added(embedding_shape("positions", tokens, std::max(sizes.at("positions"), tokens), width)));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), heads));
    layers.push_back(attention_shape(block + "attention", tokens, width, heads, {.causal = true, .dropout = dropout}));
    layers.push_back(dropped(by_rows(token_dense_shape(block + "projection", tokens, width, width))));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, 4 * width))));
    layers.back().delta_follows = true;  // only GELU is between them
    layers.push_back(dropped(by_rows(token_dense_shape(block + "mlp2", tokens, 4 * width, width))));
  }
  layers.push_back(normalisation_shape("norm", tokens, width));
  layers.push_back(with_softmax(by_entries(tied_decoder_shape("decoder", tokens, vocabulary, width, false))));
  return model;
}

}  // namespace dadsim::spec
