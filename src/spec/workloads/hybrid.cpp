#include <fmt/format.h>

#include <string>
#include <utility>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Builds blocks that are each Mamba-2, attention or an MLP.
class Hybrid {
 public:
  Hybrid(const std::string& title, const Sizes& sizes)
      : sizes_(sizes), width_(sizes.at("hidden")), tokens_(sizes.at("sequence")) {
    model_.name = title;
  }

  ModelShape make() {
    const std::int64_t words = sizes_.at("vocabulary");
    add(by_entries(embedding_shape("words", tokens_, words, width_)));
    const std::int64_t mamba = sizes_.at("mamba-layers");
    const std::int64_t mlps = sizes_.at("mlp-layers");
    const std::int64_t attentions = sizes_.at("attention-layers");
    const std::int64_t all = mamba + mlps + attentions;
    std::int64_t of_mamba = 0;
    std::int64_t of_attention = 0;
    for (std::int64_t i = 1; i <= all; ++i) {
      const std::string block = fmt::format("block{}.", i);
      add(rms_normalisation_shape(block + "norm", tokens_, width_));
      // The kind furthest below its even share comes next; attention is in the middle of its stretch.
      if (of_attention * all < i * attentions - all / 2) {
        ++of_attention;
        add_attention(block);
      } else if (of_mamba * (mamba + mlps) <= (i - of_attention - 1) * mamba && of_mamba < mamba) {
        ++of_mamba;
        add_mamba(block);
      } else {
        add_mlp(block);
      }
    }
    add(rms_normalisation_shape("norm", tokens_, width_));
    add(with_softmax(by_entries(token_dense_shape("decoder", tokens_, width_, words, false))));
    return std::move(model_);
  }

 private:
  void add(LayerShape layer) { model_.layers.push_back(std::move(layer)); }

  LayerShape dense(const std::string& name, std::int64_t in, std::int64_t out) const {
    return token_dense_shape(name, tokens_, in, out, false);
  }

  /// Adds a Mamba-2 block (section 6 of the paper): attention inside a chunk, states between chunks.
  void add_mamba(const std::string& block) {
    const std::int64_t heads = sizes_.at("mamba-heads");
    const std::int64_t head = sizes_.at("mamba-head-size");
    const std::int64_t inner = heads * head;
    const std::int64_t states = sizes_.at("groups") * sizes_.at("state");
    const std::int64_t kernel = sizes_.at("kernel");
    const std::int64_t chunk = sizes_.at("chunk");
    add(by_columns(dense(block + "mamba.in", width_, 2 * inner + 2 * states + heads)));
    LayerShape convolution = vectors_shape(block + "mamba.convolution", tokens_, kernel + 1, inner + 2 * states);
    convolution.outputs_per_sample = static_cast<double>(tokens_ * (inner + 2 * states));
    add(std::move(convolution));
    LayerShape scan = vectors_shape(block + "mamba.scan", tokens_, 3, heads);  // decay, step size and skip of each head
    scan.kind = LayerKind::attention;
    scan.split = TensorSplit::heads;
    scan.heads = heads;
    scan.causal = true;
    scan.outputs_per_sample = static_cast<double>(tokens_ * inner);
    scan.forward_macs_per_sample =
        static_cast<double>(tokens_) *
        static_cast<double>(chunk * states + heads * (chunk * head + 2 * sizes_.at("state") * head));
    add(std::move(scan));
    add(rms_normalisation_shape(block + "mamba.norm", tokens_, inner));
    add(by_rows(dense(block + "mamba.out", inner, width_)));
  }

  void add_attention(const std::string& block) {
    const std::int64_t heads = sizes_.at("heads");
    const std::int64_t key_heads = sizes_.at("kv-heads");
    const std::int64_t head = sizes_.at("head-size");
    add(by_columns(dense(block + "query", width_, heads * head), heads));
    add(by_columns(dense(block + "key", width_, key_heads * head), key_heads));
    add(by_columns(dense(block + "value", width_, key_heads * head), key_heads));
    add(attention_shape(block + "attention", tokens_, heads * head, heads, {.causal = true}));
    add(by_rows(dense(block + "projection", heads * head, width_)));
  }

  void add_mlp(const std::string& block) {
    if (const std::int64_t number = size_or(sizes_, "experts", 0); number > 0) {
      const Experts experts{number, sizes_.at("experts-per-token"), false};
      const std::int64_t between = sizes_.at("expert-feed-forward");
      add(token_dense_shape(block + "router", tokens_, width_, number, true));
      add(with_gelu(by_columns(experts_shape(block + "experts.up", tokens_, width_, between, experts))));
      add(by_rows(experts_shape(block + "experts.down", tokens_, between, width_, experts)));
    }
    if (const std::int64_t between = sizes_.at("feed-forward"); between > 0) {
      add(with_gelu(by_columns(dense(block + "up", width_, between))));
      model_.layers.back().delta_follows = true;  // only the activation is between them
      add(by_rows(dense(block + "down", between, width_)));
    }
  }

  const Sizes& sizes_;
  std::int64_t width_, tokens_;
  ModelShape model_;
};

}  // namespace

ModelShape hybrid_shape(const std::string& title, const Sizes& sizes) { return Hybrid(title, sizes).make(); }

}  // namespace dadsim::spec
