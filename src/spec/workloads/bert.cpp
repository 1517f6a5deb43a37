#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {
namespace {

constexpr std::int64_t kBertVocabulary = 30522;  // WordPiece, English, uncased
constexpr std::int64_t kBertPositions = 512;     // longest sequence of the position table
constexpr std::int64_t kBertSegments = 2;

/// What the sizes differ in (Devlin et al., section 3).
struct BertSize {
  const char* name;
  const char* title;
  const char* word;
  std::int64_t width, heads, blocks;
};
constexpr std::array<BertSize, 2> kBertSizes{
    {{"bert-base", "BERT-base", "base", 768, 12, 12}, {"bert-large", "BERT-large", "large", 1024, 16, 24}}};

/// The two phases of pre-training (appendix A.2), each with 15 % of its tokens masked, rounded up to what the authors'
/// implementation sets aside for them.
struct BertPhase {
  const char* suffix;
  std::int64_t tokens, predictions;
};
constexpr std::array<BertPhase, 2> kBertPhases{{{"", 128, 20}, {"-512", 512, 80}}};

ModelShape bert_shape(const BertSize& size, const BertPhase& phase) {
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  const std::int64_t tokens = phase.tokens;
  const std::int64_t predictions = phase.predictions;
  auto& layers = model.layers;
  layers.push_back(embedding_shape("words", tokens, kBertVocabulary, width));
  layers.push_back(embedding_shape("positions", tokens, kBertPositions, width));
  layers.push_back(embedding_shape("segments", tokens, kBertSegments, width));
  layers.push_back(normalisation_shape("embedding.norm", tokens, width));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    for (const char* projection : {"query", "key", "value"}) {
      layers.push_back(token_dense_shape(block + projection, tokens, width, width));
    }
    layers.push_back(attention_shape(block + "attention", tokens, width, size.heads));
    layers.push_back(token_dense_shape(block + "projection", tokens, width, width));
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(token_dense_shape(block + "mlp1", tokens, width, 4 * width));
    layers.back().delta_follows = true;  // GELU alone is between them
    layers.push_back(token_dense_shape(block + "mlp2", tokens, 4 * width, width));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
  }
  layers.push_back(dense_shape("pooler", width, width, true));  // on the first token alone
  layers.push_back(token_dense_shape("masked_words.dense", predictions, width, width));
  layers.push_back(normalisation_shape("masked_words.norm", predictions, width));
  layers.push_back(tied_decoder_shape("masked_words.decoder", predictions, kBertVocabulary, width, true));
  layers.push_back(dense_shape("next_sentence", width, 2, true));
  return model;
}

}  // namespace

std::vector<Workload> bert_workloads() {
  std::vector<Workload> workloads;
  for (const BertSize& size : kBertSizes) {
    for (const BertPhase& phase : kBertPhases) {
      workloads.push_back(
          {.name = std::string(size.name) + phase.suffix,
           .description =
               fmt::format("BERT {}, uncased, in pre-training: sequences of {} tokens, {} of them masked, both heads",
                           size.word, phase.tokens, phase.predictions),
           .source = "Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv:1810.04805, section 3 and appendix A",
           .sample = fmt::format("a sequence of {} tokens", phase.tokens),
           .shape = [size, phase] { return bert_shape(size, phase); }});
    }
  }
  return workloads;
}

}  // namespace dadsim::spec
