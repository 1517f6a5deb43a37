#include "spec/workloads/gpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"
#include "spec/workloads/sizes.hpp"

namespace dadsim::spec {
namespace {

constexpr std::int64_t kGptVocabulary = 50257;  // byte-pair encoding of GPT-2, also of GPT-3

/// Radford et al., table 2; heads as in the released models.
constexpr std::int64_t kGpt2Tokens = 1024;
constexpr std::array<GptSize, 4> kGpt2{{
    {"gpt-2-small", "GPT-2 small", 768, 12, 12},
    {"gpt-2-medium", "GPT-2 medium", 1024, 16, 24},
    {"gpt-2-large", "GPT-2 large", 1280, 20, 36},
    {"gpt-2-xl", "GPT-2 XL", 1600, 25, 48},
}};

/// Brown et al., table 2.1, the width of 13B as it is printed there.
constexpr std::int64_t kGpt3Tokens = 2048;
constexpr std::array<GptSize, 8> kGpt3{{
    {"gpt-3-small", "GPT-3 small", 768, 12, 12},
    {"gpt-3-medium", "GPT-3 medium", 1024, 16, 24},
    {"gpt-3-large", "GPT-3 large", 1536, 16, 24},
    {"gpt-3-xl", "GPT-3 XL", 2048, 24, 24},
    {"gpt-3-2.7b", "GPT-3 2.7B", 2560, 32, 32},
    {"gpt-3-6.7b", "GPT-3 6.7B", 4096, 32, 32},
    {"gpt-3-13b", "GPT-3 13B", 5140, 40, 40},
    {"gpt-3-175b", "GPT-3 175B", 12288, 96, 96},
}};

constexpr const char* kGpt2Source =
    "Radford, Wu, Child, Luan, Amodei, Sutskever: Language Models are Unsupervised Multitask Learners, OpenAI 2019, "
    "table 2; parameters as of the released models";

}  // namespace

ModelShape gpt_shape(const GptSize& size, const GptForm& form, std::int64_t tokens) {
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  const auto dropped = [&form](LayerShape shape) { return form.dropout ? with_dropout(std::move(shape)) : shape; };
  auto& layers = model.layers;
  layers.push_back(by_entries(embedding_shape("words", tokens, form.vocabulary, width)));
  layers.push_back(added(embedding_shape("positions", tokens, std::max(form.positions, tokens), width)));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), size.heads));
    layers.push_back(
        attention_shape(block + "attention", tokens, width, size.heads, {.causal = true, .dropout = form.dropout}));
    layers.push_back(dropped(by_rows(token_dense_shape(block + "projection", tokens, width, width))));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, 4 * width))));
    layers.back().delta_follows = true;  // GELU alone is between them
    layers.push_back(dropped(by_rows(token_dense_shape(block + "mlp2", tokens, 4 * width, width))));
  }
  layers.push_back(normalisation_shape("norm", tokens, width));
  layers.push_back(with_softmax(by_entries(tied_decoder_shape("decoder", tokens, form.vocabulary, width, false))));
  return model;
}

Workload gpt_workload(const GptSize& size, const GptForm& form, std::int64_t tokens, std::string source) {
  return {.name = size.name,
          .description = fmt::format("{}: sequences of {} tokens, {} blocks of width {}", size.title, tokens,
                                     size.blocks, size.width),
          .source = std::move(source),
          .sample = fmt::format("a sequence of {} tokens", tokens),
          .parameters = {sequence_parameter(tokens)},
          .make = [size, form](const Sizes& sizes) { return gpt_shape(size, form, sizes.at("sequence")); }};
}

Workload gpt_family(const GptSize& own, const GptForm& form, std::int64_t tokens, std::string description,
                    std::string source) {
  return {.name = own.name,
          .description = std::move(description),
          .source = std::move(source),
          .sample = "a sequence of tokens",
          .parameters = {layers_parameter(own.blocks), hidden_parameter(own.width), heads_parameter(own.heads),
                         vocabulary_parameter(form.vocabulary), sequence_parameter(tokens)},
          .make = [own, form](const Sizes& sizes) {
            GptSize size = own;
            size.blocks = sizes.at("layers");
            size.width = sizes.at("hidden");
            size.heads = sizes.at("heads");
            check_divides("heads", size.heads, "hidden", size.width);
            GptForm asked = form;
            asked.vocabulary = sizes.at("vocabulary");
            return gpt_shape(size, asked, sizes.at("sequence"));
          }};
}

std::vector<Workload> gpt_workloads() {
  std::vector<Workload> workloads;
  const GptForm gpt2{.vocabulary = kGptVocabulary, .positions = kGpt2Tokens, .dropout = true};
  const GptForm gpt3{.vocabulary = kGptVocabulary, .positions = kGpt3Tokens, .dropout = true};
  workloads.push_back(gpt_family(
      {"gpt", "GPT", 768, 12, 12}, {.vocabulary = kGptVocabulary, .positions = 1, .dropout = true}, kGpt2Tokens,
      "a GPT of any size, with a position for each token: those of GPT-2 small unless said", kGpt2Source));
  for (const GptSize& size : kGpt2) workloads.push_back(gpt_workload(size, gpt2, kGpt2Tokens, kGpt2Source));
  for (const GptSize& size : kGpt3) {
    workloads.push_back(gpt_workload(size, gpt3, kGpt3Tokens,
                                     "Brown et al.: Language Models are Few-Shot Learners, NeurIPS 2020, "
                                     "arXiv:2005.14165, table 2.1; attention taken as dense in every block"));
  }
  return workloads;
}

}  // namespace dadsim::spec
