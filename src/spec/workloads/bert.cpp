#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"
#include "spec/workloads/sizes.hpp"

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

ModelShape bert_shape(const BertSize& size, std::int64_t vocabulary, const BertPhase& phase) {
  ModelShape model;
  model.name = size.title;
  const std::int64_t width = size.width;
  const std::int64_t tokens = phase.tokens;
  const std::int64_t predictions = phase.predictions;
  if (predictions > tokens) throw std::invalid_argument("more tokens are masked than a sequence has");
  auto& layers = model.layers;
  layers.push_back(by_entries(embedding_shape("words", tokens, vocabulary, width)));
  layers.push_back(added(embedding_shape("positions", tokens, std::max(kBertPositions, tokens), width)));
  layers.push_back(added(embedding_shape("segments", tokens, kBertSegments, width)));
  layers.push_back(normalisation_shape("embedding.norm", tokens, width));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    for (const char* projection : {"query", "key", "value"}) {
      layers.push_back(by_columns(token_dense_shape(block + projection, tokens, width, width), size.heads));
    }
    layers.push_back(attention_shape(block + "attention", tokens, width, size.heads, {.dropout = true}));
    layers.push_back(with_dropout(by_rows(token_dense_shape(block + "projection", tokens, width, width))));
    layers.push_back(normalisation_shape(block + "norm1", tokens, width));
    layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, 4 * width))));
    layers.back().delta_follows = true;  // GELU alone is between them
    layers.push_back(with_dropout(by_rows(token_dense_shape(block + "mlp2", tokens, 4 * width, width))));
    layers.push_back(normalisation_shape(block + "norm2", tokens, width));
  }
  layers.push_back(dense_shape("pooler", width, width, true));  // on the first token alone
  layers.push_back(with_gelu(token_dense_shape("masked_words.dense", predictions, width, width)));
  layers.push_back(normalisation_shape("masked_words.norm", predictions, width));
  layers.push_back(
      with_softmax(by_entries(tied_decoder_shape("masked_words.decoder", predictions, vocabulary, width, true))));
  layers.push_back(dense_shape("next_sentence", width, 2, true));
  return model;
}

constexpr const char* kBertSource =
    "Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv:1810.04805, section 3 and appendix A";

std::vector<ParameterSpec> phase_parameters(const BertPhase& phase) {
  return {sequence_parameter(phase.tokens), masked_parameter(phase.predictions)};
}

BertPhase asked_phase(const Sizes& sizes) { return {"", sizes.at("sequence"), sizes.at("masked")}; }

/// BERT-base, but for what is said.
Workload bert_family() {
  const BertSize& own = kBertSizes[0];
  std::vector<ParameterSpec> parameters{layers_parameter(own.blocks), hidden_parameter(own.width),
                                        heads_parameter(own.heads), vocabulary_parameter(kBertVocabulary)};
  std::ranges::copy(phase_parameters(kBertPhases[0]), std::back_inserter(parameters));
  return {.name = "bert",
          .description = "a BERT of any size in pre-training, both heads: BERT-base unless said",
          .source = kBertSource,
          .sample = "a sequence of tokens",
          .parameters = std::move(parameters),
          .make = [](const Sizes& sizes) {
            BertSize size = kBertSizes[0];
            size.title = "BERT";
            size.blocks = sizes.at("layers");
            size.width = sizes.at("hidden");
            size.heads = sizes.at("heads");
            check_divides("heads", size.heads, "hidden", size.width);
            return bert_shape(size, sizes.at("vocabulary"), asked_phase(sizes));
          }};
}

}  // namespace

std::vector<Workload> bert_workloads() {
  std::vector<Workload> workloads{bert_family()};
  for (const BertSize& size : kBertSizes) {
    for (const BertPhase& phase : kBertPhases) {
      workloads.push_back(
          {.name = std::string(size.name) + phase.suffix,
           .description =
               fmt::format("BERT {}, uncased, in pre-training: sequences of {} tokens, {} of them masked, both heads",
                           size.word, phase.tokens, phase.predictions),
           .source = kBertSource,
           .sample = fmt::format("a sequence of {} tokens", phase.tokens),
           .parameters = phase_parameters(phase),
           .make = [size](const Sizes& sizes) { return bert_shape(size, kBertVocabulary, asked_phase(sizes)); }});
    }
  }
  return workloads;
}

}  // namespace dadsim::spec
