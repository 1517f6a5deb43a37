#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Builds a U-Net of residual convolutions, conditioned on time, and transformers that attend to a text.
class UNet {
 public:
  UNet(const std::string& title, const Sizes& sizes)
      : sizes_(sizes),
        first_(sizes.at("channels")),
        embedding_(4 * first_),
        side_(sizes.at("image") / kLatentStride),
        channels_(first_) {
    model_.name = title;
  }

  ModelShape make() {
    const std::int64_t levels = sizes_.at("levels");
    add_embedding("time", first_);
    if (const std::int64_t beside = size_or(sizes_, "beside-text", 0); beside > 0) add_embedding("beside_text", beside);
    convolve("first", kLatents, first_, 3);
    std::vector<std::int64_t> kept{first_};
    for (std::int64_t level = 1; level <= levels; ++level) {
      for (int i = 0; i < kPerLevel; ++i) {
        add_block(channels_, level);
        kept.push_back(channels_);
      }
      if (level == levels) break;
      side_ /= 2;
      convolve(fmt::format("down{}", level), channels_, channels_, 3, 2);
      kept.push_back(channels_);
    }
    add_residual(next_block(), channels_, channels_);
    add_transformer(last_block(), sizes_.at("depth-middle"));
    add_residual(next_block(), channels_, channels_);
    for (std::int64_t level = levels; level >= 1; --level) {
      for (int i = 0; i <= kPerLevel; ++i) {
        const std::int64_t beside = kept.back();
        kept.pop_back();
        add_block(channels_ + beside, level);
      }
      if (level == 1) break;
      side_ *= 2;
      convolve(fmt::format("up{}", level), channels_, channels_, 3);
    }
    add(normalisation_shape("norm", pixels(), channels_));
    convolve("last", channels_, kLatents, 3);
    return std::move(model_);
  }

 private:
  static constexpr std::int64_t kLatents = 4;       ///< channels of the latents
  static constexpr std::int64_t kLatentStride = 8;  ///< image pixels per side of a latent pixel
  static constexpr int kPerLevel = 2;               ///< blocks per level on the way down; one more on the way up

  void add(LayerShape layer) { model_.layers.push_back(std::move(layer)); }
  std::int64_t pixels() const { return side_ * side_; }
  std::string next_block() { return fmt::format("block{}.", ++blocks_); }
  std::string last_block() const { return fmt::format("block{}.", blocks_); }

  void convolve(const std::string& name, std::int64_t from, std::int64_t filters, std::int64_t kernel,
                std::int64_t stride = 1) {
    add(convolution_shape(
        name, {.channels = from, .filters = filters, .kernel = kernel, .size = side_, .bias = true, .stride = stride}));
  }

  void add_embedding(const std::string& name, std::int64_t width) {
    add(token_dense_shape(name + "1", 1, width, embedding_));
    add(token_dense_shape(name + "2", 1, embedding_, embedding_));
  }

  void add_block(std::int64_t from, std::int64_t level) {
    add_residual(next_block(), from, first_ * sizes_.at(fmt::format("times{}", level)));
    add_transformer(last_block(), sizes_.at(fmt::format("depth{}", level)));
  }

  void add_residual(const std::string& block, std::int64_t from, std::int64_t to) {
    add(normalisation_shape(block + "norm1", pixels(), from));
    convolve(block + "convolution1", from, to, 3);
    add(token_dense_shape(block + "time", 1, embedding_, to));
    add(normalisation_shape(block + "norm2", pixels(), to));
    convolve(block + "convolution2", to, to, 3);
    if (from != to) {
      convolve(block + "shortcut", from, to, 1);
      model_.layers.back() = added(std::move(model_.layers.back()));
    }
    channels_ = to;
  }

  void add_transformer(const std::string& block, std::int64_t depth) {
    if (depth == 0) return;
    const std::int64_t width = channels_;
    const std::int64_t heads = sizes_.contains("head-size") ? width / sizes_.at("head-size") : sizes_.at("heads");
    const std::int64_t text = sizes_.at("text-length");
    const auto dense = [&](const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
      add(token_dense_shape(name, pixels(), in, out, bias));
    };
    add(normalisation_shape(block + "transformer.norm", pixels(), width));
    dense(block + "transformer.in", width, width, true);
    for (std::int64_t i = 1; i <= depth; ++i) {
      const std::string layer = fmt::format("{}transformer{}.", block, i);
      add(normalisation_shape(layer + "norm1", pixels(), width));
      dense(layer + "qkv", width, 3 * width, false);
      add(attention_shape(layer + "attention", pixels(), width, heads));
      dense(layer + "projection", width, width, true);
      add(normalisation_shape(layer + "norm2", pixels(), width));
      dense(layer + "text.query", width, width, false);
      add(token_dense_shape(layer + "text.keys_and_values", text, sizes_.at("text-hidden"), 2 * width, false));
      LayerShape to_text = attention_shape(layer + "text.attention", pixels(), width, heads);
      const double share = static_cast<double>(text) / static_cast<double>(pixels());
      to_text.outputs_per_sample += (share - 1) * to_text.scores_per_sample;
      to_text.scores_per_sample *= share;
      to_text.forward_macs_per_sample *= share;
      add(to_text);
      dense(layer + "text.projection", width, width, true);
      add(normalisation_shape(layer + "norm3", pixels(), width));
      dense(layer + "mlp1", width, 8 * width, true);  // one half is the gate of the other
      dense(layer + "mlp2", 4 * width, width, true);
    }
    dense(block + "transformer.out", width, width, true);
  }

  ModelShape model_;
  const Sizes& sizes_;
  std::int64_t first_;
  std::int64_t embedding_;  ///< width of the time embedding
  std::int64_t side_;       ///< current side of the image
  std::int64_t channels_;
  int blocks_ = 0;
};

}  // namespace

ModelShape unet_shape(const std::string& title, const Sizes& sizes) { return UNet(title, sizes).make(); }

}  // namespace dadsim::spec
