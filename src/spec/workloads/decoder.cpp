#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Builds a decoder block by block. Sizes that workloads.csv omits have the defaults given here.
class DecoderShape {
 public:
  DecoderShape(const std::string& title, const Sizes& sizes)
      : sizes_(sizes),
        width_(sizes.at("hidden")),
        tokens_(sizes.at("sequence")),
        heads_(sizes.at("heads")),
        key_heads_(size("kv-heads", heads_)),
        head_(size("head-size", 0) > 0 ? size("head-size", 0) : width_ / heads_) {
    model_.name = title;
  }

  ModelShape make() {
    const std::int64_t words = sizes_.at("vocabulary");
    add(by_entries(embedding_shape("words", tokens_, words, width_)));
    if (const std::int64_t rows = size("positions", 0); rows > 0)
      add(added(embedding_shape("positions", tokens_, std::max(rows, tokens_), width_)));
    if (size("embedding-norm", 0) != 0) add_norm("words.norm");
    const std::int64_t layers = sizes_.at("layers");
    const std::int64_t norms = size("norms", 2);
    for (std::int64_t i = 1; i <= layers; ++i) {
      const std::string block = fmt::format("block{}.", i);
      add_norm(block + "norm1");
      if (size("latent", 0) > 0) {
        add_latent_attention(block);
      } else {
        add_attention(block, i);
      }
      if (norms > 2) add_norm(block + "norm1.behind");
      if (norms > 1) add_norm(block + "norm2");
      if (has_experts(i)) {
        add_experts(block);
      } else {
        add_mlp(block, "", sizes_.at("feed-forward"));
      }
      if (norms > 2) add_norm(block + "norm2.behind");
    }
    add_norm("norm");
    add(with_softmax(by_entries(size("tied", 0) != 0 ? tied_decoder_shape("decoder", tokens_, words, width_, false)
                                                     : token_dense_shape("decoder", tokens_, width_, words, false))));
    return std::move(model_);
  }

 private:
  std::int64_t size(const std::string& name, std::int64_t otherwise) const { return size_or(sizes_, name, otherwise); }
  bool is_gated() const { return size("mlp", 0) == 0; }
  bool has_biases() const { return size("biases", 0) > 1; }
  bool has_experts(std::int64_t block) const {
    return size("experts", 0) > 0 && block > size("dense-layers", 0) && block % size("experts-every", 1) == 0;
  }

  void add(LayerShape layer) { model_.layers.push_back(std::move(layer)); }

  LayerShape dense(const std::string& name, std::int64_t in, std::int64_t out, bool bias) const {
    return token_dense_shape(name, tokens_, in, out, bias);
  }

  void add_norm(const std::string& name) {
    constexpr std::array<std::int64_t, 3> kWeights{1, 2, 0};  // per feature: root mean square, layer norm, without
    LayerShape norm = normalisation_shape(name, tokens_, width_);
    norm.parameters = kWeights.at(static_cast<std::size_t>(size("norm", 0))) * width_;
    add(std::move(norm));
  }

  /// Adds root-mean-square norms of queries and keys, per head or over all heads.
  void add_norms_of_scores(const std::string& block) {
    const std::int64_t kind = size("qk-norm", 0);
    if (kind == 0) return;
    for (const auto& [name, heads] : {std::pair{"query.norm", heads_}, std::pair{"key.norm", key_heads_}}) {
      const bool all_heads = kind == 2;
      LayerShape norm = rms_normalisation_shape(block + name, all_heads ? tokens_ : tokens_ * heads,
                                                all_heads ? heads * head_ : head_);
      norm.split = TensorSplit::heads;
      add(std::move(norm));
    }
  }

  void add_attention(const std::string& block, std::int64_t i) {
    const bool bias = size("biases", 0) > 0;
    add(by_columns(dense(block + "query", width_, heads_ * head_, bias), heads_));
    add(by_columns(dense(block + "key", width_, key_heads_ * head_, bias), key_heads_));
    add(by_columns(dense(block + "value", width_, key_heads_ * head_, bias), key_heads_));
    add_norms_of_scores(block);
    LayerShape attention = attention_shape(block + "attention", tokens_, heads_ * head_, heads_, {.causal = true});
    const std::int64_t full_every = size("full-every", 0);
    const bool full = full_every > 0 && i % full_every == 0;
    attention.keys_seen = full ? 0 : keys_seen();
    attention.parameters = size("sinks", 0) * heads_;
    attention.keys_and_values = 2 * key_heads_ * head_;
    add(std::move(attention));
    add(by_rows(dense(block + "projection", heads_ * head_, width_, has_biases())));
  }

  /// Returns the mean number of positions seen with a window or chunks; 0: all previous ones.
  double keys_seen() const {
    const auto tokens = static_cast<double>(tokens_);
    if (const auto window = static_cast<double>(size("window", 0)); window > 0 && window < tokens)
      return window - window * (window - 1) / (2 * tokens);
    if (const auto chunk = static_cast<double>(size("chunk", 0)); chunk > 0 && chunk < tokens) return (chunk + 1) / 2;
    return 0;
  }

  /// Adds multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1). Keys and values come from a latent
  /// vector of `latent` numbers, and `rope-size` more that all heads share. Queries come from a latent vector of
  /// `query-latent` numbers, or from the token if that is 0. A head has `head-size` numbers in addition to `rope-size`,
  /// and values of `value-size`.
  void add_latent_attention(const std::string& block) {
    const std::int64_t latent = sizes_.at("latent");
    const std::int64_t rope = sizes_.at("rope-size");
    const std::int64_t value = sizes_.at("value-size");
    const std::int64_t queries = size("query-latent", 0);
    if (queries > 0) {
      add(dense(block + "query.down", width_, queries, false));
      add(rms_normalisation_shape(block + "query.norm", tokens_, queries));
    }
    add(by_columns(dense(block + "query", queries > 0 ? queries : width_, heads_ * (head_ + rope), false), heads_));
    add(dense(block + "latent.down", width_, latent + rope, false));
    add(rms_normalisation_shape(block + "latent.norm", tokens_, latent));
    add(by_columns(dense(block + "key_value", latent, heads_ * (head_ + value), false), heads_));
    LayerShape attention = attention_shape(block + "attention", tokens_, heads_ * value, heads_, {.causal = true});
    const auto pairs = static_cast<double>(tokens_ * tokens_);
    attention.forward_macs_per_sample = pairs * static_cast<double>(heads_ * (head_ + rope + value));
    attention.keys_and_values = heads_ * (head_ + rope + value);
    add(std::move(attention));
    add(by_rows(dense(block + "projection", heads_ * value, width_, false)));
  }

  /// Adds an MLP. The gated form is SwiGLU (Shazeer, 2020, arXiv:2002.05202): down(silu(gate(x)) ⊙ up(x)). The outputs
  /// of gate, up, silu and the product are kept.
  void add_mlp(const std::string& block, const std::string& part, std::int64_t between) {
    const bool bias = has_biases();
    if (is_gated()) add(with_gelu(by_columns(dense(block + part + "gate", width_, between, bias))));
    add(with_gelu(by_columns(dense(block + part + "up", width_, between, bias))));
    if (!is_gated()) model_.layers.back().delta_follows = true;  // only the activation is between them
    add(by_rows(dense(block + part + "down", between, width_, bias)));
  }

  /// Adds a router, `experts` MLPs of which each token uses `experts-per-token`, and a shared MLP for all tokens.
  void add_experts(const std::string& block) {
    const std::int64_t between = sizes_.at("expert-feed-forward");
    const Experts experts{sizes_.at("experts"), sizes_.at("experts-per-token"), has_biases()};
    add(dense(block + "router", width_, experts.number, size("router-bias", 0) != 0));
    if (is_gated())
      add(with_gelu(by_columns(experts_shape(block + "experts.gate", tokens_, width_, between, experts))));
    add(with_gelu(by_columns(experts_shape(block + "experts.up", tokens_, width_, between, experts))));
    add(by_rows(experts_shape(block + "experts.down", tokens_, between, width_, experts)));
    if (const std::int64_t shared = size("shared-feed-forward", 0); shared > 0) {
      if (size("shared-gate", 0) != 0) add(dense(block + "shared.router", width_, 1, false));
      add_mlp(block, "shared.", shared);
    }
  }

  const Sizes& sizes_;
  std::int64_t width_, tokens_, heads_, key_heads_, head_;
  ModelShape model_;
};

}  // namespace

ModelShape decoder_shape(const std::string& title, const Sizes& sizes) { return DecoderShape(title, sizes).make(); }

}  // namespace dadsim::spec
