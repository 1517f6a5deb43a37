#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"
#include "spec/workloads/sizes.hpp"

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

constexpr std::int64_t kVitPatch = 16;      // pixels along a side
constexpr std::int64_t kVitImage = 224;     // likewise
constexpr std::int64_t kVitClasses = 1000;  // of ImageNet

/// Without dropout, as the implementations whose throughput is published train it.
ModelShape vit_shape(const VitSize& size, std::int64_t image, std::int64_t patch, std::int64_t classes) {
  check_divides("patch", patch, "image", image);
  const std::int64_t grid = image / patch;      // patches along a side
  const std::int64_t tokens = grid * grid + 1;  // and the class token
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  auto& layers = model.layers;
  layers.push_back(convolution_shape(
      "patches", {.channels = 3, .filters = width, .kernel = patch, .size = grid, .bias = true, .stride = patch}));
  layers.push_back(added(vectors_shape("class_and_position", tokens, tokens + 1, width)));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), size.heads));
    layers.push_back(attention_shape(block + "attention", tokens, width, size.heads));
    layers.push_back(by_rows(token_dense_shape(block + "projection", tokens, width, width)));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, 4 * width))));
    layers.back().delta_follows = true;  // GELU alone is between them
    layers.push_back(by_rows(token_dense_shape(block + "mlp2", tokens, 4 * width, width)));
  }
  layers.push_back(normalisation_shape("norm", tokens, width));
  layers.push_back(dense_shape("classifier", width, classes, true));  // on the class token alone
  return model;
}

constexpr const char* kVitSource =
    "Dosovitskiy et al.: An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929, table 1";

/// ViT-B/16, but for what is said.
Workload vit_family() {
  const VitSize& own = kVitSizes[0];
  return {.name = "vit",
          .description = "a Vision Transformer of any size: ViT-B/16 on ImageNet unless said",
          .source = kVitSource,
          .sample = "an image",
          .parameters = {layers_parameter(own.blocks), hidden_parameter(own.width), heads_parameter(own.heads),
                         image_parameter(kVitImage), patch_parameter(kVitPatch), classes_parameter(kVitClasses)},
          .make = [](const Sizes& sizes) {
            VitSize size = kVitSizes[0];
            size.title = "ViT";
            size.blocks = sizes.at("layers");
            size.width = sizes.at("hidden");
            size.heads = sizes.at("heads");
            check_divides("heads", size.heads, "hidden", size.width);
            return vit_shape(size, sizes.at("image"), sizes.at("patch"), sizes.at("classes"));
          }};
}

}  // namespace

std::vector<Workload> vit_workloads() {
  std::vector<Workload> workloads{vit_family()};
  for (const VitSize& size : kVitSizes) {
    workloads.push_back(
        {.name = size.name,
         .description = fmt::format(
             "Vision Transformer, {} size, on ImageNet: 224 × 224 pixels, 16 × 16 patches, 1,000 classes", size.word),
         .source = kVitSource,
         .sample = "an image",
         .dataset_size = kImageNetSize,
         .parameters = {image_parameter(kVitImage)},
         .make = [size](const Sizes& sizes) { return vit_shape(size, sizes.at("image"), kVitPatch, kVitClasses); }});
  }
  return workloads;
}

}  // namespace dadsim::spec
