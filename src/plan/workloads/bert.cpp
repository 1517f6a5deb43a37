#include "plan/workloads/bert.hpp"

#include <fmt/format.h>

#include <string>

#include "plan/workloads/layers.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kTokens = 128;        // sequence length
constexpr std::int64_t kPredictions = 20;    // masked tokens per sequence: 15 % of 128, rounded up
constexpr std::int64_t kVocabulary = 30522;  // WordPiece, English, uncased
constexpr std::int64_t kPositions = 512;     // longest sequence of the position table
constexpr std::int64_t kSegments = 2;

/// What the sizes of BERT differ in.
struct Size {
  const char* name;
  std::int64_t width, heads, blocks;
  std::int64_t hidden() const { return 4 * width; }
};
constexpr const char* kSource =
    "Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv:1810.04805, section 3 and appendix A";

constexpr Size kBase{"BERT-base", 768, 12, 12};
constexpr Size kLarge{"BERT-large", 1024, 16, 24};

/// Scores every word of the vocabulary for each masked token. The matrix is the word embedding's: only a bias is its
/// own, and its gradient is added to a table that is not an outer product of its own rows.
LayerShape tied_decoder(std::int64_t width) {
  LayerShape shape;
  shape.name = "masked_words.decoder";
  shape.rows_per_sample = kPredictions;
  shape.parameters = kVocabulary;
  shape.forward_macs_per_sample = static_cast<double>(kPredictions * width * kVocabulary);
  shape.outputs_per_sample = static_cast<double>(kPredictions * kVocabulary);
  return shape;
}

ModelShape shape(const Size& size) {
  ModelShape model;
  model.name = size.name;
  const std::int64_t width = size.width;
  auto& layers = model.layers;
  layers.push_back(embedding_shape("words", kTokens, kVocabulary, width));
  layers.push_back(embedding_shape("positions", kTokens, kPositions, width));
  layers.push_back(embedding_shape("segments", kTokens, kSegments, width));
  layers.push_back(normalisation_shape("embedding.norm", kTokens, width));
  for (std::int64_t i = 1; i <= size.blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    for (const char* projection : {"query", "key", "value"}) {
      layers.push_back(token_dense_shape(block + projection, kTokens, width, width));
    }
    layers.push_back(attention_shape(block + "attention", kTokens, width, size.heads));
    layers.push_back(token_dense_shape(block + "projection", kTokens, width, width));
    layers.push_back(normalisation_shape(block + "norm1", kTokens, width));
    layers.push_back(token_dense_shape(block + "mlp1", kTokens, width, size.hidden()));
    layers.push_back(token_dense_shape(block + "mlp2", kTokens, size.hidden(), width));
    layers.push_back(normalisation_shape(block + "norm2", kTokens, width));
  }
  layers.push_back(dense_shape("pooler", width, width, true));  // on the first token alone
  layers.push_back(token_dense_shape("masked_words.dense", kPredictions, width, width));
  layers.push_back(normalisation_shape("masked_words.norm", kPredictions, width));
  layers.push_back(tied_decoder(width));
  layers.push_back(dense_shape("next_sentence", width, 2, true));
  return model;
}

}  // namespace

Workload bert_base_workload() {
  return {"bert-base",
          "BERT base, uncased, in pre-training: sequences of 128 tokens, 20 of them masked, both heads; a sample is a "
          "sequence",
          kSource, [] { return shape(kBase); }};
}

Workload bert_large_workload() {
  return {"bert-large",
          "BERT large, uncased, in pre-training: sequences of 128 tokens, 20 of them masked, both heads; a sample is a "
          "sequence",
          kSource, [] { return shape(kLarge); }};
}

}  // namespace dadsim
