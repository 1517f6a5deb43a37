#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Builds the encoder and the decoder, block by block.
class EncoderDecoder {
 public:
  EncoderDecoder(const std::string& title, const Sizes& sizes)
      : sizes_(sizes),
        width_(sizes.at("hidden")),
        heads_(sizes.at("heads")),
        inside_(size_or(sizes, "head-size", 0) > 0 ? heads_ * sizes.at("head-size") : width_),
        source_(sizes.at("sequence")),
        target_(sizes.at("target-length")) {
    model_.name = title;
  }

  ModelShape make() {
    const std::int64_t words = sizes_.at("vocabulary");
    const bool sound = size_or(sizes_, "mels", 0) > 0;
    if (sound) {
      add_convolution("sound1", sizes_.at("mels"), 2 * source_);
      add_convolution("sound2", width_, source_);
    } else {
      add(by_entries(embedding_shape("words", source_ + target_, words, width_)));
    }
    for (std::int64_t i = 1; i <= sizes_.at("layers"); ++i)
      add_block(fmt::format("encoder.block{}.", i), source_, false);
    add_buckets("encoder.positions", source_);
    add_norm("encoder.norm", source_);
    if (sound) add(by_entries(embedding_shape("words", target_, words, width_)));
    if (const std::int64_t rows = size_or(sizes_, "positions", 0); rows > 0)
      add(added(embedding_shape("positions", target_, std::max(rows, target_), width_)));
    const std::int64_t layers = size_or(sizes_, "decoder-layers", sizes_.at("layers"));
    for (std::int64_t i = 1; i <= layers; ++i) add_block(fmt::format("decoder.block{}.", i), target_, true);
    add_buckets("decoder.positions", target_);
    add_norm("decoder.norm", target_);
    add(with_softmax(by_entries(size_or(sizes_, "tied", 0) != 0
                                    ? tied_decoder_shape("decoder", target_, words, width_, false)
                                    : token_dense_shape("decoder", target_, width_, words, false))));
    return std::move(model_);
  }

 private:
  void add(LayerShape layer) { model_.layers.push_back(std::move(layer)); }

  /// Adds a convolution over windows of three consecutive positions.
  void add_convolution(const std::string& name, std::int64_t channels, std::int64_t tokens) {
    constexpr std::int64_t kWindow = 3;
    add(token_dense_shape(name, tokens, kWindow * channels, width_));
  }

  void add_norm(const std::string& name, std::int64_t tokens) {
    add(size_or(sizes_, "norm", 0) == 0 ? rms_normalisation_shape(name, tokens, width_)
                                        : normalisation_shape(name, tokens, width_));
  }

  void add_buckets(const std::string& name, std::int64_t tokens) {
    const std::int64_t buckets = size_or(sizes_, "buckets", 0);
    if (buckets > 0) add(added(vectors_shape(name, tokens, buckets, heads_)));
  }

  /// Adds attention of `tokens` positions to `seen` positions of the same stack or of the other one.
  void add_attention(const std::string& name, std::int64_t tokens, std::int64_t seen, bool causal) {
    const bool biases = has_biases();
    add(by_columns(token_dense_shape(name + "query", tokens, width_, inside_, biases), heads_));
    add(by_columns(token_dense_shape(name + "key", seen, width_, inside_, false), heads_));
    add(by_columns(token_dense_shape(name + "value", seen, width_, inside_, biases), heads_));
    LayerShape attention = attention_shape(name + "attention", tokens, inside_, heads_, {.causal = causal});
    if (seen != tokens) {
      const auto pairs = static_cast<double>(tokens) * static_cast<double>(seen);
      attention.forward_macs_per_sample = 2 * pairs * static_cast<double>(inside_);
      attention.outputs_per_sample += static_cast<double>(heads_) * pairs - attention.scores_per_sample;
      attention.scores_per_sample = static_cast<double>(heads_) * pairs;
    }
    add(std::move(attention));
    add(by_rows(token_dense_shape(name + "projection", tokens, inside_, width_, biases)));
  }

  void add_block(const std::string& block, std::int64_t tokens, bool of_decoder) {
    const bool biases = has_biases();
    const std::int64_t between = sizes_.at("feed-forward");
    add_norm(block + "norm1", tokens);
    add_attention(block, tokens, tokens, of_decoder);
    if (of_decoder) {
      add_norm(block + "norm2", tokens);
      add_attention(block + "cross.", tokens, source_, false);
    }
    add_norm(block + "norm3", tokens);
    const bool gated = size_or(sizes_, "mlp", 0) == 0;
    if (gated) add(with_gelu(by_columns(token_dense_shape(block + "gate", tokens, width_, between, biases))));
    add(with_gelu(by_columns(token_dense_shape(block + "up", tokens, width_, between, biases))));
    model_.layers.back().delta_follows = !gated;
    add(by_rows(token_dense_shape(block + "down", tokens, between, width_, biases)));
  }

  bool has_biases() const { return size_or(sizes_, "biases", 0) != 0; }

  const Sizes& sizes_;
  std::int64_t width_, heads_, inside_, source_, target_;
  ModelShape model_;
};

}  // namespace

ModelShape encoder_decoder_shape(const std::string& title, const Sizes& sizes) {
  return EncoderDecoder(title, sizes).make();
}

}  // namespace dadsim::spec
