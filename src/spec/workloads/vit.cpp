#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// What the sizes differ in (Dosovitskiy et al., table 1).
struct VitSize {
  const char* name;
  const char* title;
  const char* word;
  std::int64_t width, heads, blocks;
};
constexpr std::array<VitSize, 2> kVitSizes{
    {{"vit-b-16", "ViT-B/16", "base", 768, 12, 12}, {"vit-l-16", "ViT-L/16", "large", 1024, 16, 24}}};

constexpr std::int64_t kVitPatch = 16;
constexpr std::int64_t kVitGrid = 224 / kVitPatch;            // patches along a side
constexpr std::int64_t kVitTokens = kVitGrid * kVitGrid + 1;  // and the class token

ModelShape vit_shape(const VitSize& size) {
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  auto& layers = model.layers;
  layers.push_back(convolution_shape(
      "patches",
      {.channels = 3, .filters = width, .kernel = kVitPatch, .size = kVitGrid, .bias = true, .stride = kVitPatch}));
  layers.push_back(vectors_shape("class_and_position", kVitTokens, kVitTokens + 1, width));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", kVitTokens, width));
    layers.push_back(token_dense_shape(block + "qkv", kVitTokens, width, 3 * width));
    layers.push_back(attention_shape(block + "attention", kVitTokens, width, size.heads));
    layers.push_back(token_dense_shape(block + "projection", kVitTokens, width, width));
    layers.push_back(normalisation_shape(block + "norm2", kVitTokens, width));
    layers.push_back(token_dense_shape(block + "mlp1", kVitTokens, width, 4 * width));
    layers.back().delta_follows = true;  // GELU alone is between them
    layers.push_back(token_dense_shape(block + "mlp2", kVitTokens, 4 * width, width));
  }
  layers.push_back(normalisation_shape("norm", kVitTokens, width));
  layers.push_back(dense_shape("classifier", width, 1000, true));  // on the class token alone
  return model;
}

}  // namespace

std::vector<Workload> vit_workloads() {
  std::vector<Workload> workloads;
  for (const VitSize& size : kVitSizes) {
    workloads.push_back(
        {.name = size.name,
         .description = fmt::format(
             "Vision Transformer, {} size, on ImageNet: 224 × 224 pixels, 16 × 16 patches, 1,000 classes", size.word),
         .source = "Dosovitskiy et al.: An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929, table 1",
         .sample = "an image",
         .dataset_size = kImageNetSize,
         .shape = [size] { return vit_shape(size); }});
  }
  return workloads;
}

}  // namespace dadsim::spec
