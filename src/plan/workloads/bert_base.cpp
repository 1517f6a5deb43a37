#include "plan/workloads/bert_base.hpp"

#include <fmt/format.h>

#include <string>

#include "plan/workloads/layers.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kTokens = 128;      // sequence length
constexpr std::int64_t kPredictions = 20;  // masked tokens per sequence: 15 % of 128, rounded up
constexpr std::int64_t kWidth = 768;
constexpr std::int64_t kHidden = 3072;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kBlocks = 12;
constexpr std::int64_t kVocabulary = 30522;  // WordPiece, English, uncased
constexpr std::int64_t kPositions = 512;     // longest sequence of the position table
constexpr std::int64_t kSegments = 2;

/// Scores every word of the vocabulary for each masked token. The matrix is the word embedding's: only a bias is its
/// own, and its gradient is added to a table that is not an outer product of its own rows.
LayerShape tied_decoder() {
  LayerShape shape;
  shape.name = "masked_words.decoder";
  shape.rows_per_sample = kPredictions;
  shape.parameters = kVocabulary;
  shape.forward_macs_per_sample = static_cast<double>(kPredictions * kWidth * kVocabulary);
  shape.outputs_per_sample = static_cast<double>(kPredictions * kVocabulary);
  return shape;
}

ModelShape shape() {
  ModelShape model;
  model.name = "BERT-base";
  auto& layers = model.layers;
  layers.push_back(embedding_shape("words", kTokens, kVocabulary, kWidth));
  layers.push_back(embedding_shape("positions", kTokens, kPositions, kWidth));
  layers.push_back(embedding_shape("segments", kTokens, kSegments, kWidth));
  layers.push_back(normalisation_shape("embedding.norm", kTokens, kWidth));
  for (std::int64_t i = 1; i <= kBlocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    for (const char* projection : {"query", "key", "value"}) {
      layers.push_back(token_dense_shape(block + projection, kTokens, kWidth, kWidth));
    }
    layers.push_back(attention_shape(block + "attention", kTokens, kWidth, kHeads));
    layers.push_back(token_dense_shape(block + "projection", kTokens, kWidth, kWidth));
    layers.push_back(normalisation_shape(block + "norm1", kTokens, kWidth));
    layers.push_back(token_dense_shape(block + "mlp1", kTokens, kWidth, kHidden));
    layers.push_back(token_dense_shape(block + "mlp2", kTokens, kHidden, kWidth));
    layers.push_back(normalisation_shape(block + "norm2", kTokens, kWidth));
  }
  layers.push_back(dense_shape("pooler", kWidth, kWidth, true));  // on the first token alone
  layers.push_back(token_dense_shape("masked_words.dense", kPredictions, kWidth, kWidth));
  layers.push_back(normalisation_shape("masked_words.norm", kPredictions, kWidth));
  layers.push_back(tied_decoder());
  layers.push_back(dense_shape("next_sentence", kWidth, 2, true));
  return model;
}

}  // namespace

Workload bert_base_workload() {
  return {"bert-base",
          "BERT base, uncased, in pre-training: sequences of 128 tokens, 20 of them masked, both heads; a sample is a "
          "sequence",
          "Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv:1810.04805, section 3 and appendix A", shape};
}

}  // namespace dadsim
