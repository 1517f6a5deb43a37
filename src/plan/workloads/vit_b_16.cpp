#include "plan/workloads/vit_b_16.hpp"

#include <fmt/format.h>

#include <string>

#include "plan/workloads/layers.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kWidth = 768;
constexpr std::int64_t kHidden = 3072;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kBlocks = 12;
constexpr std::int64_t kPatch = 16;
constexpr std::int64_t kGrid = 224 / kPatch;         // patches along a side
constexpr std::int64_t kTokens = kGrid * kGrid + 1;  // and the class token

ModelShape shape() {
  ModelShape model;
  model.name = "ViT-B/16";
  auto& layers = model.layers;
  layers.push_back(
      convolution_shape("patches", {.channels = 3, .filters = kWidth, .kernel = kPatch, .size = kGrid, .bias = true}));
  layers.push_back(embedding_shape("class_and_position", kTokens, kTokens + 1, kWidth));
  for (std::int64_t i = 1; i <= kBlocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", kTokens, kWidth));
    layers.push_back(token_dense_shape(block + "qkv", kTokens, kWidth, 3 * kWidth));
    layers.push_back(attention_shape(block + "attention", kTokens, kWidth, kHeads));
    layers.push_back(token_dense_shape(block + "projection", kTokens, kWidth, kWidth));
    layers.push_back(normalisation_shape(block + "norm2", kTokens, kWidth));
    layers.push_back(token_dense_shape(block + "mlp1", kTokens, kWidth, kHidden));
    layers.push_back(token_dense_shape(block + "mlp2", kTokens, kHidden, kWidth));
  }
  layers.push_back(normalisation_shape("norm", kTokens, kWidth));
  layers.push_back(dense_shape("classifier", kWidth, 1000, true));  // on the class token alone
  return model;
}

}  // namespace

Workload vit_b_16_workload() {
  return {"vit-b-16",
          "Vision Transformer, base size, on ImageNet: 224 × 224 pixels, 16 × 16 patches, 1,000 classes; a sample is "
          "an image",
          "Dosovitskiy et al.: An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929, table 1", shape};
}

}  // namespace dadsim
