#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

namespace {

/// Returns attention over sequences without padding: `mean` positions, at most `longest`, uniform up to `longest`. The
/// mean of squares is mean² + (longest − mean)² ÷ 3, limited to 2 mean², which is the value for exponentially
/// distributed lengths.
LayerShape unpadded(LayerShape attention, double mean, double longest) {
  const double spread = std::min((longest - mean) * (longest - mean) / 3, mean * mean) / (mean * mean);
  attention.forward_macs_per_sample *= 1 + spread;
  const double more = spread * attention.scores_per_sample;
  attention.kept_beside_per_sample += attention.kept_beside_per_sample > 0 ? more : 0;
  attention.kept_bytes_per_sample += attention.kept_bytes_per_sample > 0 ? more : 0;
  attention.outputs_per_sample += more;
  attention.scores_per_sample += more;
  return attention;
}

}  // namespace

ModelShape bert_shape(const std::string& title, const Sizes& sizes) {
  ModelShape model;
  model.name = title;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t longest = sizes.at("sequence");
  const std::int64_t mean = size_or(sizes, "mean-length", 0);
  if (mean > longest) throw std::invalid_argument("the mean length exceeds that of the longest sequence");
  const std::int64_t tokens = mean > 0 ? mean : longest;
  const std::int64_t predictions = sizes.at("masked");
  if (predictions > tokens) throw std::invalid_argument("more tokens are masked than a sequence has");
  const std::int64_t vocabulary = sizes.at("vocabulary");
  const std::int64_t heads = sizes.at("heads");
  auto& layers = model.layers;
  layers.push_back(by_entries(embedding_shape("words", tokens, vocabulary, width)));
  layers.push_back(added(embedding_shape("positions", tokens, std::max(sizes.at("positions"), longest), width)));
  if (size_or(sizes, "relative", 0) != 0) layers.push_back(normalisation_shape("positions.norm", tokens, width));
  if (sizes.at("segments") > 0)
    layers.push_back(added(embedding_shape("segments", tokens, sizes.at("segments"), width)));
  layers.push_back(normalisation_shape("embedding.norm", tokens, width));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    for (const char* projection : {"query", "key", "value"}) {
      layers.push_back(by_columns(token_dense_shape(block + projection, tokens, width, width), heads));
    }
    layers.push_back(unpadded(attention_shape(block + "attention", tokens, width, heads, {.dropout = true}),
                              static_cast<double>(tokens), static_cast<double>(longest)));
    layers.push_back(with_dropout(by_rows(token_dense_shape(block + "projection", tokens, width, width))));
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, 4 * width))));
    layers.back().delta_follows = true;  // only GELU is between them
    layers.push_back(with_dropout(by_rows(token_dense_shape(block + "mlp2", tokens, 4 * width, width))));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
  }
  if (predictions > 0 || size_or(sizes, "pooler", 0) != 0)
    layers.push_back(dense_shape("pooler", width, width, true));  // for the first token only
  if (predictions == 0) return model;
  layers.push_back(with_gelu(token_dense_shape("masked_words.dense", predictions, width, width)));
  layers.push_back(normalisation_shape("masked_words.norm", predictions, width));
  layers.push_back(
      with_softmax(by_entries(tied_decoder_shape("masked_words.decoder", predictions, vocabulary, width, true))));
  layers.push_back(dense_shape("next_sentence", width, 2, true));
  return model;
}

}  // namespace dadsim::spec
