#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

/// What the sizes differ in (Dosovitskiy et al., table 1).
struct Size {
  const char* name;
  const char* title;
  const char* word;
  std::int64_t width, heads, blocks;
};
constexpr std::array<Size, 2> kSizes{
    {{"vit-b-16", "ViT-B/16", "base", 768, 12, 12}, {"vit-l-16", "ViT-L/16", "large", 1024, 16, 24}}};

constexpr std::int64_t kPatch = 16;
constexpr std::int64_t kGrid = 224 / kPatch;         // patches along a side
constexpr std::int64_t kTokens = kGrid * kGrid + 1;  // and the class token

ModelShape shape(const Size& size) {
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  auto& layers = model.layers;
  layers.push_back(convolution_shape(
      "patches", {.channels = 3, .filters = width, .kernel = kPatch, .size = kGrid, .bias = true, .stride = kPatch}));
  layers.push_back(embedding_shape("class_and_position", kTokens, kTokens + 1, width));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", kTokens, width));
    layers.push_back(token_dense_shape(block + "qkv", kTokens, width, 3 * width));
    layers.push_back(attention_shape(block + "attention", kTokens, width, size.heads));
    layers.push_back(token_dense_shape(block + "projection", kTokens, width, width));
    layers.push_back(normalisation_shape(block + "norm2", kTokens, width));
    layers.push_back(token_dense_shape(block + "mlp1", kTokens, width, 4 * width));
    layers.push_back(token_dense_shape(block + "mlp2", kTokens, 4 * width, width));
  }
  layers.push_back(normalisation_shape("norm", kTokens, width));
  layers.push_back(dense_shape("classifier", width, 1000, true));  // on the class token alone
  return model;
}

}  // namespace

std::vector<Workload> vit_workloads() {
  std::vector<Workload> workloads;
  for (const Size& size : kSizes) {
    workloads.push_back(
        {.name = size.name,
         .description = fmt::format(
             "Vision Transformer, {} size, on ImageNet: 224 × 224 pixels, 16 × 16 patches, 1,000 classes", size.word),
         .source = "Dosovitskiy et al.: An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929, table 1",
         .sample = "an image",
         .dataset_size = kImageNetSize,
         .shape = [size] { return shape(size); }});
  }
  return workloads;
}

}  // namespace dadsim::spec
