#include <fmt/format.h>

#include <array>
#include <string>

#include "spec/workloads/families.hpp"
#include "spec/workloads/layers.hpp"
#include "spec/workloads/sizes.hpp"

namespace dadsim::spec {
namespace {

/// Tokens of the training part, ends of sentences included (Merity et al., Pointer Sentinel Mixture Models, ICLR 2017,
/// arXiv:1609.07843, table 1).
constexpr std::int64_t kWikiText2Tokens = 2'088'628;

/// A word language model as in PyTorch's examples: an embedding, LSTM layers, a decoder.
struct LstmVariant {
  const char* name;
  const char* summary;
  const char* source;
  std::int64_t vocabulary, width, depth, tokens;
  bool tied;  ///< the decoder's matrix is the embedding's
};
constexpr std::array<LstmVariant, 3> kLstmVariants{{
    {"lstm-wikitext-2", "28,869 words, decoder tied to the embedding",
     "Vogels, Karimireddy, Jaggi: PowerSGD, NeurIPS 2019, arXiv:1905.13727, appendix: 110 MB of gradients", 28869, 650,
     3, 30, true},
    {"lstm-wikitext-2-untied", "33,278 words, a decoder of its own",
     "the network of Vogels et al., arXiv:1905.13727, with the vocabulary of Merity et al., arXiv:1609.07843, table 1",
     33278, 650, 3, 30, false},
    {"lstm-wikitext-2-example", "33,278 words, a decoder of its own",
     "PyTorch's example word_language_model (github.com/pytorch/examples) with --nhid 650 --emsize 650, the medium "
     "size of Zaremba et al., arXiv:1409.2329",
     33278, 650, 2, 35, false},
}};

ModelShape lstm_shape(const LstmVariant& variant, std::int64_t tokens) {
  ModelShape model;
  model.name = fmt::format("LSTM {}×{}", variant.depth, variant.width);
  const std::int64_t width = variant.width;
  auto& layers = model.layers;
  layers.push_back(embedding_shape("words", tokens, variant.vocabulary, width));
  for (std::int64_t i = 1; i <= variant.depth; ++i) {
    const std::string name = fmt::format("lstm{}.", i);
    // Input, forget and output gate and the candidate in one matrix each; both have biases, as in cuDNN.
    layers.push_back(token_dense_shape(name + "input", tokens, width, 4 * width));
    layers.push_back(token_dense_shape(name + "hidden", tokens, width, 4 * width));
    layers.back().sequential = tokens;
    layers.push_back(lstm_gates_shape(name + "gates", tokens, width));
  }
  layers.push_back(variant.tied ? tied_decoder_shape("decoder", tokens, variant.vocabulary, width, true)
                                : token_dense_shape("decoder", tokens, width, variant.vocabulary));
  return model;
}

}  // namespace

std::vector<Workload> lstm_workloads() {
  std::vector<Workload> workloads;
  for (const LstmVariant& variant : kLstmVariants) {
    workloads.push_back({.name = variant.name,
                         .description = fmt::format("LSTM of {} layers of {} units on WikiText-2: {}, back-propagation "
                                                    "through {} tokens",
                                                    variant.depth, variant.width, variant.summary, variant.tokens),
                         .source = variant.source,
                         .sample = fmt::format("a window of {} tokens", variant.tokens),
                         .dataset_size = kWikiText2Tokens / variant.tokens,
                         .parameters = {sequence_parameter(variant.tokens)},
                         .make = [variant](const Sizes& sizes) { return lstm_shape(variant, sizes.at("sequence")); }});
  }
  return workloads;
}

}  // namespace dadsim::spec
