#include "spec/model_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dadsim::spec {
namespace {

void require(bool fits, const std::string& what, std::string remedy) {
  if (!fits) throw ModelMistake(what, std::move(remedy));
}

/// Traverses the layers in the order of the forward pass and records their shapes.
class Walk {
 public:
  SampleShape through(const std::vector<LayerSpec>& layers, SampleShape shape) {
    for (const LayerSpec& layer : layers) shape = through(layer, shape);
    return shape;
  }

  SampleShape through(const LayerSpec& layer, const SampleShape& in) {
    return std::visit([&](const auto& spec) { return (*this)(spec, in); }, layer.what);
  }

  std::vector<LayerShape> take() { return std::move(layers_); }

 private:
  SampleShape operator()(const DenseSpec& spec, const SampleShape& in) {
    require_values(in, "dense");
    const std::int64_t rows = spec.each_position ? in.positions() : 1;
    matrix(name("fc"), LayerKind::dense, rows, in.size() / rows, spec.units, spec.bias);
    return spec.each_position ? SampleShape{in.height, in.width, spec.units} : SampleShape{1, 1, spec.units};
  }

  SampleShape operator()(const ConvolutionSpec& spec, const SampleShape& in) {
    require_values(in, "convolution");
    const auto side = [&](std::int64_t length) {
      require(length + 2 * spec.padding >= spec.kernel,
              fmt::format("a kernel of {0} × {0} does not fit an image of {1} × {2} with padding {3}", spec.kernel,
                          in.height, in.width, spec.padding),
              fmt::format("at most {}", std::min(in.height, in.width) + 2 * spec.padding));
      return (length + 2 * spec.padding - spec.kernel) / spec.stride + 1;
    };
    const SampleShape out{side(in.height), side(in.width), spec.filters};
    matrix(name("conv"), LayerKind::convolution, out.positions(), in.channels * spec.kernel * spec.kernel, spec.filters,
           spec.bias);
    layers_.back().inputs_per_sample = static_cast<double>(in.size());
    return out;
  }

  SampleShape operator()(const PoolSpec& spec, const SampleShape& in) {
    require_values(in, "pool");
    require(spec.size <= in.height && spec.size <= in.width,
            fmt::format("pooling over {0} × {0} does not fit an image of {1} × {2}", spec.size, in.height, in.width),
            fmt::format("at most {}", std::min(in.height, in.width)));
    const SampleShape out{(in.height - spec.size) / spec.stride + 1, (in.width - spec.size) / spec.stride + 1,
                          in.channels};
    other(name("pool"), LayerKind::element_wise, out, 0);
    return out;
  }

  SampleShape operator()(const MeanSpec&, const SampleShape& in) {
    require_values(in, "mean");
    const SampleShape out{1, 1, in.channels};
    other(name("mean"), LayerKind::element_wise, out, 0);
    return out;
  }

  SampleShape operator()(const SelectSpec&, const SampleShape& in) {
    require_values(in, "select");
    return {1, 1, in.channels};
  }

  SampleShape operator()(const RecurrentSpec& spec, const SampleShape& in) {
    const bool gru = spec.cell == RecurrentSpec::Cell::gru;
    require_values(in, gru ? "gru" : "lstm");
    const std::int64_t gates = gru ? 3 : 4;
    const std::string cell = name(gru ? "gru" : "lstm");
    const SampleShape out{1, in.positions(), spec.units};
    matrix(cell + ".x2h", LayerKind::dense, in.positions(), in.channels, gates * spec.units, spec.bias);
    matrix(cell + ".h2h", LayerKind::dense, in.positions(), spec.units, gates * spec.units, spec.bias);
    layers_.back().sequential = in.positions();
    other(cell + ".gates", LayerKind::recurrence, out, 0);
    layers_.back().sequential = in.positions();
    return out;
  }

  SampleShape operator()(const AttentionSpec& spec, const SampleShape& in) {
    require_values(in, "attention");
    require(in.channels % spec.heads == 0,
            fmt::format("{} channels cannot be divided among {} heads", in.channels, spec.heads),
            fmt::format("heads that divide {}", in.channels));
    const std::string attention = name("attention");
    const std::int64_t tokens = in.positions();
    const SampleShape out{1, tokens, in.channels};
    matrix(attention + ".qkv", LayerKind::dense, tokens, in.channels, 3 * in.channels, spec.bias);
    LayerShape& scores = other(attention + ".scores", LayerKind::attention, out, 0);
    scores.forward_macs_per_sample = 2.0 * static_cast<double>(tokens * tokens * in.channels);
    scores.outputs_per_sample += static_cast<double>(spec.heads * tokens * tokens);
    matrix(attention + ".projection", LayerKind::dense, tokens, in.channels, in.channels, spec.bias);
    return out;
  }

  SampleShape operator()(const LayerNormSpec&, const SampleShape& in) {
    require_values(in, "layer-norm");
    other(name("layer-norm"), LayerKind::normalisation, in, 2 * in.channels);
    return in;
  }

  SampleShape operator()(const BatchNormSpec&, const SampleShape& in) {
    require_values(in, "batch-norm");
    other(name("batch-norm"), LayerKind::normalisation, in, 2 * in.channels);
    return in;
  }

  SampleShape operator()(const EmbeddingSpec& spec, const SampleShape& in) {
    require(in.vocabulary > 0, "an embedding reads symbols, not numbers",
            "use data made of symbols (<text>, <grammar>), and the embedding as the first layer");
    const SampleShape out{in.height, in.width, spec.units};
    LayerShape& table = other(name("embedding"), LayerKind::embedding, out, in.vocabulary * spec.units);
    table.in = spec.units;
    table.out = in.vocabulary;
    return out;
  }

  SampleShape operator()(const PositionsSpec&, const SampleShape& in) {
    require_values(in, "positions");
    other(name("positions"), LayerKind::element_wise, in, in.size());
    return in;
  }

  SampleShape operator()(const ClassTokenSpec&, const SampleShape& in) {
    require_values(in, "class-token");
    const SampleShape out{1, in.positions() + 1, in.channels};
    other(name("class-token"), LayerKind::element_wise, out, in.channels);
    return out;
  }

  SampleShape operator()(const DropoutSpec&, const SampleShape& in) {
    require_values(in, "dropout");
    other(name("dropout"), LayerKind::element_wise, in, 0);
    return in;
  }

  SampleShape operator()(const ResidualSpec& spec, const SampleShape& in) {
    const std::string sum = name("add");
    const SampleShape out = through(spec.layers, in);
    const SampleShape beside = through(spec.shortcut, in);
    require(out.positions() == beside.positions() && out.channels == beside.channels,
            fmt::format("the layers give {} × {} × {} values and the shortcut {} × {} × {}", out.height, out.width,
                        out.channels, beside.height, beside.width, beside.channels),
            "make both equal, e.g. by a convolution of size 1 with the same stride as shortcut");
    other(sum, LayerKind::element_wise, out, 0);
    return out;
  }

  static void require_values(const SampleShape& in, const char* layer) {
    require(in.vocabulary == 0, fmt::format("<{}> reads numbers, not symbols", layer),
            "use <embedding> as the first layer");
  }

  std::string name(const char* kind) { return fmt::format("{}{}", kind, ++count_[kind]); }

  void matrix(std::string name, LayerKind kind, std::int64_t rows, std::int64_t in, std::int64_t out, bool bias) {
    LayerShape shape = dense_shape(std::move(name), in, out, bias);
    shape.kind = kind;
    shape.rows_per_sample = rows;
    shape.forward_macs_per_sample *= static_cast<double>(rows);
    shape.outputs_per_sample *= static_cast<double>(rows);
    layers_.push_back(std::move(shape));
  }

  LayerShape& other(std::string name, LayerKind kind, const SampleShape& out, std::int64_t parameters) {
    LayerShape& shape = layers_.emplace_back();
    shape.name = std::move(name);
    shape.kind = kind;
    shape.rows_per_sample = out.positions();
    shape.parameters = parameters;
    shape.outputs_per_sample = static_cast<double>(out.size());
    return shape;
  }

  std::vector<LayerShape> layers_;
  std::map<std::string, int> count_;
};

}  // namespace

SampleShape output_shape(const LayerSpec& layer, const SampleShape& in) { return Walk().through(layer, in); }

std::int64_t parameters_of(const LayerSpec& layer, const SampleShape& in) {
  Walk walk;
  walk.through(layer, in);
  return ModelShape{"", walk.take()}.parameters();
}

ModelShape model_shape(const ModelSpec& model, const SampleShape& sample) {
  Walk walk;
  walk.through(model.layers, sample);
  return {model_name(model, sample), walk.take()};
}

std::string model_name(const ModelSpec& model, const SampleShape& sample) {
  if (!model.name.empty()) return model.name;
  std::string mlp = fmt::format("MLP {}", sample.size());
  for (const LayerSpec& layer : model.layers) {
    const auto* dense = std::get_if<DenseSpec>(&layer.what);
    if (dense == nullptr) return fmt::format("network of {} layers", model.layers.size());
    mlp += fmt::format("-{}", dense->units);
  }
  return mlp;
}

}  // namespace dadsim::spec
