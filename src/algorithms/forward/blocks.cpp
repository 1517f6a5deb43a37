#include "algorithms/forward/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dadsim::algorithms {
namespace {

/// Returns the scenario element of a layer without a forward derivative; empty for other layers.
struct NameOfLayer {
  std::string operator()(const spec::DenseSpec&) const { return ""; }
  std::string operator()(const spec::LayerNormSpec&) const { return ""; }
  std::string operator()(const spec::MeanSpec&) const { return ""; }
  std::string operator()(const spec::ResidualSpec& layer) const {
    for (const auto* layers : {&layer.layers, &layer.shortcut}) {
      for (const spec::LayerSpec& inner : *layers) {
        if (std::string name = std::visit(*this, inner.what); !name.empty()) return name;
      }
    }
    return "";
  }
  std::string operator()(const spec::ConvolutionSpec&) const { return "convolution"; }
  std::string operator()(const spec::PoolSpec&) const { return "pool"; }
  std::string operator()(const spec::SelectSpec&) const { return "select"; }
  std::string operator()(const spec::RecurrentSpec& layer) const {
    return layer.cell == spec::RecurrentSpec::Cell::gru ? "gru" : "lstm";
  }
  std::string operator()(const spec::AttentionSpec&) const { return "attention"; }
  std::string operator()(const spec::BatchNormSpec&) const { return "batch-norm"; }
  std::string operator()(const spec::EmbeddingSpec&) const { return "embedding"; }
  std::string operator()(const spec::PositionsSpec&) const { return "positions"; }
  std::string operator()(const spec::ClassTokenSpec&) const { return "class-token"; }
  std::string operator()(const spec::DropoutSpec&) const { return "dropout"; }
};

}  // namespace

std::vector<LayerBlock> blocks_of(const models::Network& network, std::int64_t count) {
  const std::size_t output = network.layers() - 1;
  const std::size_t features = network.value_before(output);
  std::vector<LayerBlock> parts;
  LayerBlock part;
  for (std::size_t value = 1; value <= features; ++value) {
    while (part.end < output && network.value_behind(part.end) <= value) ++part.end;
    part.to = value;
    if (part.end == part.first || !network.separates(value)) continue;
    parts.push_back(part);
    part = {value, value, part.end, part.end};
  }
  // Values after the last hidden matrix are read by the output layer alone.
  if (parts.empty()) parts.push_back({0, features, 0, output});
  parts.back().to = features;
  parts.back().end = output;
  const auto wanted = count == 0 ? parts.size() : std::min(parts.size(), static_cast<std::size_t>(count));
  std::vector<LayerBlock> blocks(wanted);
  for (std::size_t b = 0; b < wanted; ++b) {
    const LayerBlock& first = parts[b * parts.size() / wanted];
    const LayerBlock& last = parts[(b + 1) * parts.size() / wanted - 1];
    blocks[b] = {first.from, last.to, first.first, last.end};
  }
  return blocks;
}

std::optional<Fault> differentiation_fault(const spec::ModelSpec& model, const spec::SampleShape& sample, bool local,
                                           std::int64_t blocks, std::int64_t groups) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string name = std::visit(NameOfLayer(), model.layers[i].what);
    if (!name.empty()) {
      return Fault{fmt::format("layer {} of <model> is or contains <{}>, whose forward derivative is not supported",
                               i + 1, name),
                   "use <dense>, <layer-norm>, <mean> or <residual>"};
    }
  }
  const models::Network network(sample, model, 0);
  if (!network.separates(network.value_behind(network.layers() - 1))) {
    return Fault{"the last matrix of <model> is inside a <residual>",
                 "put a <dense> after the <residual> as output layer"};
  }
  if (groups > 1 && !local) return Fault{"groups needs loss=\"local\"", "set loss=\"local\", or groups=\"1\""};
  if (!local) return std::nullopt;
  if (network.output_shape().positions() > 1) {
    return Fault{"local losses need one label per sample, and <model> has an output for each position",
                 "set loss=\"global\""};
  }
  for (const LayerBlock& block : blocks_of(network, blocks)) {
    // Checks only the inputs of the output layer: its outputs are not divided into groups.
    const bool last = block.end + 1 == network.layers();
    for (std::size_t l = block.first; l < block.end + (last ? 1 : 0) && groups > 1; ++l) {
      const models::WeightsOf<float>& weights = network.layer(l);
      const bool below = l > block.first;
      if ((l < block.end && weights.out() % groups != 0) || (below && weights.in() % groups != 0)) {
        return Fault{fmt::format("matrix {} of <model> ({} × {}) cannot be divided into {} equal groups", l + 1,
                                 weights.in(), weights.out(), groups),
                     "set groups to a common divisor of both sizes"};
      }
      if (below && network.value_shape(network.value_before(l)).channels != weights.in()) {
        return Fault{
            fmt::format("matrix {} of <model> reads several positions at once, but groups need one position at a time",
                        l + 1),
            "set positions=\"each\" on this <dense>, or groups=\"1\""};
      }
    }
  }
  return std::nullopt;
}

}  // namespace dadsim::algorithms
