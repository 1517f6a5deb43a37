#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape lstm_shape(const std::string& title, const Sizes& sizes) {
  ModelShape model;
  model.name = title;
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t tokens = sizes.at("sequence");
  const std::int64_t vocabulary = sizes.at("vocabulary");
  auto& layers = model.layers;
  layers.push_back(embedding_shape("words", tokens, vocabulary, width));
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    const std::string name = fmt::format("lstm{}.", i);
    // The gates and the candidate share one matrix for inputs and one for states. Both have biases, as in cuDNN.
    layers.push_back(token_dense_shape(name + "input", tokens, width, 4 * width));
    layers.push_back(token_dense_shape(name + "hidden", tokens, width, 4 * width));
    layers.back().sequential = tokens;
    layers.push_back(lstm_gates_shape(name + "gates", tokens, width));
  }
  layers.push_back(sizes.at("tied") != 0 ? tied_decoder_shape("decoder", tokens, vocabulary, width, true)
                                         : token_dense_shape("decoder", tokens, width, vocabulary));
  return model;
}

}  // namespace dadsim::spec
