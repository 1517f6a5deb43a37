#include "spec/workloads/layers.hpp"

#include <utility>

namespace dadsim::spec {
namespace {

/// Returns a dense layer applied to `rows` rows per sample, from the same layer applied to one.
LayerShape repeated(LayerShape shape, std::int64_t rows) {
  shape.rows_per_sample = rows;
  shape.forward_macs_per_sample *= static_cast<double>(rows);
  shape.outputs_per_sample *= static_cast<double>(rows);
  return shape;
}

LayerShape without_matrix(std::string name, LayerKind kind, std::int64_t parameters, std::int64_t outputs) {
  LayerShape shape;
  shape.name = std::move(name);
  shape.kind = kind;
  shape.parameters = parameters;
  shape.outputs_per_sample = static_cast<double>(outputs);
  return shape;
}

}  // namespace

LayerShape convolution_shape(std::string name, const Convolution& convolution) {
  const std::int64_t patch = convolution.channels * convolution.kernel * convolution.kernel;
  LayerShape shape = repeated(dense_shape(std::move(name), patch, convolution.filters, convolution.bias),
                              convolution.size * convolution.size);
  shape.kind = LayerKind::convolution;
  // A 1×1 window reads only its own position.
  const std::int64_t side = convolution.size * (convolution.kernel == 1 ? 1 : convolution.stride);
  shape.inputs_per_sample = static_cast<double>(convolution.channels * side * side);
  return shape;
}

LayerShape token_dense_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out, bool bias) {
  return repeated(dense_shape(std::move(name), in, out, bias), tokens);
}

LayerShape normalisation_shape(std::string name, std::int64_t rows, std::int64_t features) {
  return without_matrix(std::move(name), LayerKind::normalisation, 2 * features, rows * features);
}

LayerShape rms_normalisation_shape(std::string name, std::int64_t rows, std::int64_t features) {
  return without_matrix(std::move(name), LayerKind::normalisation, features, rows * features);
}

LayerShape attention_shape(std::string name, std::int64_t tokens, std::int64_t width, std::int64_t heads,
                           const AttentionForm& form) {
  const std::int64_t scores = heads * tokens * tokens;
  LayerShape shape = without_matrix(std::move(name), LayerKind::attention, 0, scores + tokens * width);
  shape.forward_macs_per_sample = static_cast<double>(2 * tokens * tokens * width);
  shape.split = TensorSplit::heads;
  shape.heads = heads;
  shape.causal = form.causal;
  shape.keys_and_values = 2 * width;
  shape.rows_per_sample = tokens;
  shape.scores_per_sample = static_cast<double>(scores);
  if (form.dropout) shape.kept_beside_per_sample = shape.kept_bytes_per_sample = shape.scores_per_sample;
  return shape;
}

LayerShape experts_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                         const Experts& experts) {
  const std::int64_t rows = tokens * experts.per_token;
  LayerShape shape = token_dense_shape(std::move(name), rows, in, out, experts.bias);
  shape.experts = experts.number;
  shape.experts_per_token = experts.per_token;
  shape.parameters *= experts.number;
  return shape;
}

LayerShape by_columns(LayerShape shape, std::int64_t heads) {
  shape.split = TensorSplit::column;
  shape.heads = heads;
  return shape;
}

LayerShape by_rows(LayerShape shape) {
  shape.split = TensorSplit::row;
  return shape;
}

LayerShape by_entries(LayerShape shape) {
  shape.split = TensorSplit::vocabulary;
  return shape;
}

LayerShape with_gelu(LayerShape shape) {
  shape.kept_beside_per_sample += shape.outputs_per_sample;
  return shape;
}

LayerShape with_dropout(LayerShape shape) {
  shape.kept_bytes_per_sample += shape.outputs_per_sample;
  return shape;
}

LayerShape added(LayerShape shape) {
  shape.kept_beside_per_sample = -shape.outputs_per_sample;
  return shape;
}

LayerShape with_softmax(LayerShape shape) {
  constexpr double kFloat = 4;  // bytes
  shape.kept_beside_per_sample = -shape.outputs_per_sample;
  shape.kept_bytes_per_sample = kFloat * shape.outputs_per_sample;
  return shape;
}

LayerShape vectors_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width) {
  return without_matrix(std::move(name), LayerKind::element_wise, entries * width, tokens * width);
}

LayerShape embedding_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width) {
  LayerShape shape = without_matrix(std::move(name), LayerKind::embedding, entries * width, tokens * width);
  shape.in = width;
  shape.out = entries;
  shape.rows_per_sample = tokens;
  return shape;
}

LayerShape tied_decoder_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width,
                              bool bias) {
  LayerShape shape = without_matrix(std::move(name), LayerKind::dense, bias ? entries : 0, tokens * entries);
  shape.rows_per_sample = tokens;
  shape.forward_macs_per_sample = static_cast<double>(tokens * width * entries);
  return shape;
}

LayerShape lstm_gates_shape(std::string name, std::int64_t tokens, std::int64_t width) {
  LayerShape shape = without_matrix(std::move(name), LayerKind::recurrence, 0, 6 * tokens * width);
  shape.rows_per_sample = tokens;
  shape.sequential = tokens;
  return shape;
}

void add_transformer_block(std::vector<LayerShape>& layers, const std::string& block, const BlockForm& form) {
  const std::int64_t tokens = form.tokens;
  const std::int64_t width = form.width;
  layers.push_back(normalisation_shape(block + "norm1", tokens, width));
  layers.push_back(by_columns(token_dense_shape(block + "qkv", tokens, width, 3 * width), form.heads));
  layers.push_back(attention_shape(block + "attention", tokens, width, form.heads, {.causal = form.causal}));
  layers.push_back(by_rows(token_dense_shape(block + "projection", tokens, width, width)));
  layers.push_back(normalisation_shape(block + "norm2", tokens, width));
  layers.push_back(with_gelu(by_columns(token_dense_shape(block + "mlp1", tokens, width, form.between))));
  layers.back().delta_follows = true;  // only GELU is between them
  layers.push_back(by_rows(token_dense_shape(block + "mlp2", tokens, form.between, width)));
}

}  // namespace dadsim::spec
