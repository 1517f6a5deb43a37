#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"
#include "spec/workloads/sizes.hpp"

namespace dadsim::spec {
namespace {

constexpr std::int64_t kLlamaVocabulary = 32000;
constexpr const char* kLlama1 =
    "Touvron et al.: LLaMA: Open and Efficient Foundation Language Models, 2023, arXiv:2302.13971, table 2; hidden "
    "widths as of the released models";
constexpr const char* kLlama2 =
    "Touvron et al.: Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, arXiv:2307.09288, section 2.2; hidden "
    "widths as of the released models";

/// What the sizes differ in. `key_heads` share keys and values among heads (grouped-query attention, Ainslie et al.,
/// EMNLP 2023, arXiv:2305.13245).
struct LlamaSize {
  const char* name;
  const char* title;
  const char* source;
  std::int64_t tokens, width, heads, key_heads, blocks, hidden;
};
constexpr std::array<LlamaSize, 6> kLlamaSizes{{
    {"llama-7b", "LLaMA 7B", kLlama1, 2048, 4096, 32, 32, 32, 11008},
    {"llama-13b", "LLaMA 13B", kLlama1, 2048, 5120, 40, 40, 40, 13824},
    {"llama-65b", "LLaMA 65B", kLlama1, 2048, 8192, 64, 64, 80, 22016},
    {"llama-2-7b", "Llama 2 7B", kLlama2, 4096, 4096, 32, 32, 32, 11008},
    {"llama-2-13b", "Llama 2 13B", kLlama2, 4096, 5120, 40, 40, 40, 13824},
    {"llama-2-70b", "Llama 2 70B", kLlama2, 4096, 8192, 64, 8, 80, 28672},
}};

ModelShape llama_shape(const LlamaSize& size, std::int64_t vocabulary, std::int64_t tokens) {
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  const std::int64_t keys = width / size.heads * size.key_heads;
  auto& layers = model.layers;
  const auto dense = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return token_dense_shape(name, tokens, in, out, false);
  };
  layers.push_back(by_entries(embedding_shape("words", tokens, vocabulary, width)));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    layers.push_back(rms_normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(by_columns(dense(block + "query", width, width), size.heads));
    layers.push_back(by_columns(dense(block + "key", width, keys), size.key_heads));
    layers.push_back(by_columns(dense(block + "value", width, keys), size.key_heads));
    layers.push_back(attention_shape(block + "attention", tokens, width, size.heads, {.causal = true}));
    layers.push_back(by_rows(dense(block + "projection", width, width)));
    layers.push_back(rms_normalisation_shape(block + "norm2", tokens, width));
    // SwiGLU (Shazeer, 2020, arXiv:2002.05202): down(silu(gate(x)) ⊙ up(x)). Kept are what comes out of gate and up, of
    // silu, and of the product.
    layers.push_back(with_gelu(by_columns(dense(block + "gate", width, size.hidden))));
    layers.push_back(with_gelu(by_columns(dense(block + "up", width, size.hidden))));
    layers.push_back(by_rows(dense(block + "down", size.hidden, width)));
  }
  layers.push_back(rms_normalisation_shape("norm", tokens, width));
  layers.push_back(with_softmax(by_entries(dense("decoder", width, vocabulary))));
  return model;
}

/// LLaMA 7B, but for what is said.
Workload llama_family() {
  const LlamaSize& own = kLlamaSizes[0];
  return {.name = "llama",
          .description =
              "a LLaMA of any size, its keys and values in as many heads as queries or in fewer: those of LLaMA 7B "
              "unless said",
          .source = own.source,
          .sample = "a sequence of tokens",
          .parameters = {layers_parameter(own.blocks), hidden_parameter(own.width), heads_parameter(own.heads),
                         key_heads_parameter(own.key_heads), feed_forward_parameter(own.hidden),
                         vocabulary_parameter(kLlamaVocabulary), sequence_parameter(own.tokens)},
          .make = [](const Sizes& sizes) {
            LlamaSize size = kLlamaSizes[0];
            size.title = "LLaMA";
            size.blocks = sizes.at("layers");
            size.width = sizes.at("hidden");
            size.heads = sizes.at("heads");
            size.key_heads = sizes.at("kv-heads");
            size.hidden = sizes.at("feed-forward");
            check_divides("heads", size.heads, "hidden", size.width);
            check_divides("kv-heads", size.key_heads, "heads", size.heads);
            return llama_shape(size, sizes.at("vocabulary"), sizes.at("sequence"));
          }};
}

}  // namespace

std::vector<Workload> llama_workloads() {
  std::vector<Workload> workloads{llama_family()};
  for (const LlamaSize& size : kLlamaSizes) {
    workloads.push_back(
        {.name = size.name,
         .description = fmt::format(
             "{}: sequences of {} tokens, {} blocks of width {}{}", size.title, size.tokens, size.blocks, size.width,
             size.key_heads == size.heads ? "" : fmt::format(", {} heads for keys and values", size.key_heads)),
         .source = size.source,
         .sample = fmt::format("a sequence of {} tokens", size.tokens),
         .parameters = {sequence_parameter(size.tokens)},
         .make = [size](const Sizes& sizes) { return llama_shape(size, kLlamaVocabulary, sizes.at("sequence")); }});
  }
  return workloads;
}

}  // namespace dadsim::spec
