// Speech encoders: wav2vec 2.0 and Conformer.
#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// Returns a convolution along time with `taps` taps over `channels`, and a row for each of `positions`.
LayerShape temporal_convolution(const std::string& name, std::int64_t positions, std::int64_t channels,
                                std::int64_t taps, std::int64_t filters, bool bias, std::int64_t stride) {
  LayerShape shape = token_dense_shape(name, positions, channels * taps, filters, bias);
  shape.kind = LayerKind::convolution;
  shape.inputs_per_sample = static_cast<double>(positions * stride * channels);
  return shape;
}

/// Returns a convolution in which each channel, or group, sees only itself. Such products are too small for tensor
/// cores.
LayerShape grouped_convolution(const std::string& name, std::int64_t positions, std::int64_t channels,
                               std::int64_t group, std::int64_t taps, std::int64_t beside) {
  LayerShape shape = vectors_shape(name, positions, 1, channels);
  const std::int64_t weights = channels * group * taps;
  shape.parameters = weights + beside;
  shape.forward_macs_per_sample = static_cast<double>(positions * weights);
  return shape;
}

}  // namespace

ModelShape wav2vec2_shape(const std::string& title, const Sizes& sizes) {
  constexpr std::int64_t kChannels = 512;
  constexpr std::array<std::int64_t, 7> kTaps{10, 3, 3, 3, 3, 2, 2};
  constexpr std::array<std::int64_t, 7> kStrides{5, 2, 2, 2, 2, 2, 2};
  constexpr std::int64_t kPositionTaps = 128;
  constexpr std::int64_t kPositionGroups = 16;
  ModelShape model{title, {}};
  auto& layers = model.layers;
  const std::int64_t tokens = sizes.at("sequence");
  const std::int64_t width = sizes.at("hidden");
  // Either each convolution has a norm and a bias, or only the first has a norm.
  const bool normed = sizes.at("normed-convolutions") != 0;
  std::int64_t positions = tokens;
  for (std::size_t i = 1; i < kStrides.size(); ++i) positions *= kStrides[i];
  for (std::size_t i = 0; i < kTaps.size(); ++i) {
    const std::string name = fmt::format("convolution{}", i + 1);
    layers.push_back(
        temporal_convolution(name, positions, i == 0 ? 1 : kChannels, kTaps[i], kChannels, normed, kStrides[i]));
    if (normed || i == 0) layers.push_back(normalisation_shape(name + ".norm", positions, kChannels));
    if (i + 1 < kStrides.size()) positions /= kStrides[i + 1];
  }
  layers.push_back(normalisation_shape("features.norm", tokens, kChannels));
  layers.push_back(token_dense_shape("features", tokens, kChannels, width));
  layers.push_back(added(vectors_shape("mask", 1, 1, width)));
  // Weight normalisation has a norm per tap.
  layers.push_back(added(
      grouped_convolution("positions", tokens, width, width / kPositionGroups, kPositionTaps, width + kPositionTaps)));
  layers.push_back(normalisation_shape("norm", tokens, width));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i)
    add_transformer_block(layers, fmt::format("block{}.", i),
                          {tokens, width, sizes.at("heads"), sizes.at("feed-forward"), false});
  return model;
}

ModelShape conformer_shape(const std::string& title, const Sizes& sizes) {
  constexpr std::int64_t kBands = 80;
  constexpr std::int64_t kFirstTaps = 3;  // in both directions, with a stride of two
  ModelShape model{title, {}};
  auto& layers = model.layers;
  const std::int64_t tokens = sizes.at("sequence");
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t between = sizes.at("feed-forward");
  const auto add = [&](LayerShape layer) { layers.push_back(std::move(layer)); };
  add(temporal_convolution("convolution1", 2 * tokens * kBands / 2, 1, kFirstTaps * kFirstTaps, width, true, 4));
  add(temporal_convolution("convolution2", tokens * kBands / 4, width, kFirstTaps * kFirstTaps, width, true, 4));
  add(token_dense_shape("features", tokens, kBands / 4 * width, width));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string block = fmt::format("block{}.", i);
    const auto add_half = [&](const std::string& half) {
      add(normalisation_shape(block + half + ".norm", tokens, width));
      add(with_gelu(by_columns(token_dense_shape(block + half + ".mlp1", tokens, width, between))));
      layers.back().delta_follows = true;  // only Swish is between them
      add(by_rows(token_dense_shape(block + half + ".mlp2", tokens, between, width)));
    };
    add_half("first");
    add(normalisation_shape(block + "attention.norm", tokens, width));
    add(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), sizes.at("heads")));
    // Scores depend on contents and on relative positions; the latter need a matrix and two vectors.
    add(by_columns(token_dense_shape(block + "relative", 2 * tokens - 1, width, width, false), sizes.at("heads")));
    add(added(vectors_shape(block + "relative_biases", tokens, 2, width)));
    add(attention_shape(block + "attention", tokens, width, sizes.at("heads")));
    layers.back().forward_macs_per_sample *= 1.5;
    add(by_rows(token_dense_shape(block + "projection", tokens, width, width)));
    add(normalisation_shape(block + "convolution.norm", tokens, width));
    add(token_dense_shape(block + "convolution.in", tokens, width, 2 * width));
    add(grouped_convolution(block + "convolution.depthwise", tokens, width, 1, sizes.at("kernel"), width));
    add(normalisation_shape(block + "convolution.bn", tokens, width));
    add(token_dense_shape(block + "convolution.out", tokens, width, width));
    add_half("second");
    add(normalisation_shape(block + "norm", tokens, width));
  }
  add(with_softmax(token_dense_shape("decoder", tokens, width, sizes.at("vocabulary") + 1)));  // pieces and the blank
  return model;
}

}  // namespace dadsim::spec
