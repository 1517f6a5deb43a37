#include "scenario/print_parts.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;

void write_layers(XmlWriter& xml, const std::vector<spec::LayerSpec>& layers);

void write(XmlWriter& xml, const spec::DenseSpec& layer) {
  Open(xml, "dense")
      .set("units", layer.units)
      .set("activation", to_string(layer.activation))
      .set("bias", layer.bias)
      .set("positions", layer.each_position ? "each" : "together");
}

void write(XmlWriter& xml, const spec::ConvolutionSpec& layer) {
  Open(xml, "convolution")
      .set("filters", layer.filters)
      .set("kernel", layer.kernel)
      .set("stride", layer.stride)
      .set("padding", layer.padding)
      .set("activation", to_string(layer.activation))
      .set("bias", layer.bias);
}

void write(XmlWriter& xml, const spec::PoolSpec& layer) {
  Open(xml, layer.kind == spec::PoolSpec::Kind::maximum ? "max-pool" : "mean-pool")
      .set("size", layer.size)
      .set("stride", layer.stride);
}

void write(XmlWriter& xml, const spec::MeanSpec&) { const Open mean(xml, "mean"); }

void write(XmlWriter& xml, const spec::SelectSpec& layer) {
  Open(xml, "select").set("position", layer.last ? "last" : "first");
}

void write(XmlWriter& xml, const spec::RecurrentSpec& layer) {
  Open(xml, layer.cell == spec::RecurrentSpec::Cell::gru ? "gru" : "lstm")
      .set("units", layer.units)
      .set("bias", layer.bias);
}

void write(XmlWriter& xml, const spec::AttentionSpec& layer) {
  Open(xml, "attention").set("heads", layer.heads).set("causal", layer.causal).set("bias", layer.bias);
}

void write(XmlWriter& xml, const spec::LayerNormSpec& layer) { Open(xml, "layer-norm").set("epsilon", layer.epsilon); }

void write(XmlWriter& xml, const spec::BatchNormSpec& layer) {
  Open(xml, "batch-norm")
      .set("epsilon", layer.epsilon)
      .set("momentum", layer.momentum)
      .set("activation", to_string(layer.activation));
}

void write(XmlWriter& xml, const spec::EmbeddingSpec& layer) { Open(xml, "embedding").set("units", layer.units); }

void write(XmlWriter& xml, const spec::PositionsSpec&) { const Open positions(xml, "positions"); }

void write(XmlWriter& xml, const spec::ClassTokenSpec&) { const Open token(xml, "class-token"); }

void write(XmlWriter& xml, const spec::DropoutSpec& layer) { Open(xml, "dropout").set("rate", layer.rate); }

void write(XmlWriter& xml, const spec::ResidualSpec& layer) {
  Open element(xml, "residual");
  element.set("activation", to_string(layer.activation));
  write_layers(xml, layer.layers);
  if (layer.shortcut.empty()) return;
  const Open shortcut(xml, "shortcut");
  write_layers(xml, layer.shortcut);
}

void write_layers(XmlWriter& xml, const std::vector<spec::LayerSpec>& layers) {
  for (const spec::LayerSpec& layer : layers) {
    std::visit([&](const auto& spec) { write(xml, spec); }, layer.what);
  }
}

}  // namespace

void write_model(XmlWriter& xml, const spec::ModelSpec& model) {
  Open element(xml, "model");
  if (!model.name.empty()) element.set("name", model.name);
  write_layers(xml, model.layers);
}

}  // namespace dadsim::scenario
