#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <variant>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parameter.hpp"
#include "spec/model_shape.hpp"
#include "spec/preset.hpp"

namespace dadsim::scenario {
namespace {

/// Handling of one kind of layer of <model>, except residuals: its rule, and functions that read and print it.
struct LayerRow {
  ElementRule rule;
  std::function<spec::LayerSpec(const Node&, const ReadContext&)> read;
  std::function<bool(XmlWriter&, const spec::LayerSpec&)> print;  ///< prints the layer; returns false for another kind
};

template <class Spec>
LayerRow layer(std::string name, std::string words, std::vector<Row<Spec>> rows, Spec initial = {}) {
  const Table<Spec> table = Table<Spec>(std::move(name), std::move(words), std::move(rows), initial).repeats();
  return {
      table.rule(),
      [table](const Node& node, const ReadContext& context) -> spec::LayerSpec { return table.read(node, context); },
      [table](XmlWriter& xml, const spec::LayerSpec& layer) {
        const Spec* one = std::get_if<Spec>(&layer.what);
        if (one == nullptr) return false;
        if constexpr (requires { one->kind; }) {
          if (one->kind != table.initial().kind) return false;
        } else if constexpr (requires { one->cell; }) {
          if (one->cell != table.initial().cell) return false;
        }
        table.print(xml, *one, {});
        return true;
      }};
}

const std::vector<LayerRow>& layer_rows() {
  static const std::vector<LayerRow> kRows{
      layer<spec::DenseSpec>(
          "dense", "A fully connected layer.",
          {attribute("units", &spec::DenseSpec::units, integer(1, 1'000'000)).must(),
           attribute("activation", &spec::DenseSpec::activation)
               .without_default()
               .if_left_out("`relu`; `identity` in the last layer"),
           attribute("bias", &spec::DenseSpec::bias),
           attribute("positions", &spec::DenseSpec::each_position, one_of({"together", "each"}))
               .if_left_out("`together`"),
           attribute("initial", &spec::DenseSpec::initial_limit,
                     real({.minimum = 0, .maximum = 1e3, .open_minimum = true}))
               .if_left_out("√(6/inputs) before ReLU and GELU (He et al.), otherwise √(6/(inputs + units)) (Glorot and "
                            "Bengio)")}),
      layer<spec::ConvolutionSpec>(
          "convolution", "A convolution of an image with square kernels.",
          {attribute("filters", &spec::ConvolutionSpec::filters, integer(1, 1'000'000)).must(),
           attribute("kernel", &spec::ConvolutionSpec::kernel, integer(1, 100)),
           attribute("stride", &spec::ConvolutionSpec::stride, integer(1, 100)),
           attribute("padding", &spec::ConvolutionSpec::padding, integer(0, 100)),
           attribute("activation", &spec::ConvolutionSpec::activation), attribute("bias", &spec::ConvolutionSpec::bias),
           attribute("initial", &spec::ConvolutionSpec::initial_limit,
                     real({.minimum = 0, .maximum = 1e3, .open_minimum = true}))
               .if_left_out("√(6/(kernel² · channels)) before ReLU and GELU (He et al.), otherwise √(6/(kernel² · "
                            "(channels + filters))) (Glorot and Bengio)")}),
      layer<spec::PoolSpec>(
          "max-pool", "Maximum over each square window of an image, per channel.",
          {attribute("size", &spec::PoolSpec::size, integer(1, 100)),
           attribute("stride", &spec::PoolSpec::stride, integer(1, 100)).without_default().if_left_out("the size")},
          {.kind = spec::PoolSpec::Kind::maximum}),
      layer<spec::PoolSpec>(
          "mean-pool", "Mean over each square window of an image, per channel.",
          {attribute("size", &spec::PoolSpec::size, integer(1, 100)),
           attribute("stride", &spec::PoolSpec::stride, integer(1, 100)).without_default().if_left_out("the size")},
          {.kind = spec::PoolSpec::Kind::mean}),
      layer<spec::MeanSpec>("mean", "Mean over all positions, per channel.", {}),
      layer<spec::SelectSpec>(
          "select", "One position alone.",
          {attribute("position", &spec::SelectSpec::last, one_of({"first", "last"})).if_left_out("`first`")}),
      layer<spec::RecurrentSpec>("gru", "A gated recurrent unit over the positions, with its state at each position.",
                                 {attribute("units", &spec::RecurrentSpec::units, integer(1, 1'000'000)).must(),
                                  attribute("bias", &spec::RecurrentSpec::bias)},
                                 {.cell = spec::RecurrentSpec::Cell::gru}),
      layer<spec::RecurrentSpec>("lstm",
                                 "A long short-term memory over the positions, with its output at each position.",
                                 {attribute("units", &spec::RecurrentSpec::units, integer(1, 1'000'000)).must(),
                                  attribute("bias", &spec::RecurrentSpec::bias)},
                                 {.cell = spec::RecurrentSpec::Cell::lstm}),
      layer<spec::AttentionSpec>(
          "attention", "Multi-head self-attention over the positions, with its projections.",
          {attribute("heads", &spec::AttentionSpec::heads, integer(1, 1'000'000)),
           attribute("causal", &spec::AttentionSpec::causal), attribute("bias", &spec::AttentionSpec::bias)}),
      layer<spec::LayerNormSpec>(
          "layer-norm", "Mean 0 and variance 1 over the channels of each position, then a learned gain and shift.",
          {attribute("epsilon", &spec::LayerNormSpec::epsilon, real(kPositiveShare))}),
      layer<spec::BatchNormSpec>(
          "batch-norm",
          "Mean 0 and variance 1 of each channel over the samples and positions of a worker, then a learned gain and "
          "shift.",
          {attribute("epsilon", &spec::BatchNormSpec::epsilon, real(kPositiveShare)),
           attribute("momentum", &spec::BatchNormSpec::momentum, real(kPositiveShare)),
           attribute("activation", &spec::BatchNormSpec::activation).if_left_out("`identity`")}),
      layer<spec::EmbeddingSpec>("embedding", "A learned vector for each symbol; the first layer for data of symbols.",
                                 {attribute("units", &spec::EmbeddingSpec::units, integer(1, 1'000'000)).must()}),
      layer<spec::PositionsSpec>("positions", "Adds a learned vector at each position.", {}),
      layer<spec::ClassTokenSpec>("class-token", "Adds a learned vector (class token) before the first position.", {}),
      layer<spec::DropoutSpec>("dropout",
                               "Dropout: sets random values to zero in training, and scales all other values.",
                               {attribute("rate", &spec::DropoutSpec::rate, real(kDecay))})};
  return kRows;
}

const std::vector<std::string>& layer_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const LayerRow& row : layer_rows()) names.push_back(row.rule.name);
    names.emplace_back("residual");
    return names;
  }();
  return kNames;
}

const Table<spec::ResidualSpec>& residual_table() {
  using Spec = spec::ResidualSpec;
  static const Table<Spec> kTable =
      Table<Spec>("residual",
                  "The sum of its layers' output and the output of <shortcut>; without <shortcut>, the input is added.",
                  {attribute("activation", &Spec::activation).if_left_out("`identity`")})
          .holds(layer_names())
          .holds({"shortcut"})
          .repeats();
  return kTable;
}

void write_layers(XmlWriter& xml, const std::vector<spec::LayerSpec>& layers) {
  for (const spec::LayerSpec& layer : layers) {
    const auto* residual = std::get_if<spec::ResidualSpec>(&layer.what);
    if (residual == nullptr) {
      static_cast<void>(std::ranges::any_of(layer_rows(), [&](const LayerRow& row) { return row.print(xml, layer); }));
      continue;
    }
    XmlWriter::Open element(xml, "residual");
    residual_table().print_attributes(element, *residual, {});
    write_layers(xml, residual->layers);
    if (residual->shortcut.empty()) continue;
    const XmlWriter::Open shortcut(xml, "shortcut");
    write_layers(xml, residual->shortcut);
  }
}

constexpr std::size_t kMaxModelLayers = 1000;
constexpr std::size_t kMaxName = 100;  // longest name of a model, bytes
// Largest number of parameters of a network that learns. As floats, with gradients and the optimizer's moments, these
// take about 2 GB.
constexpr double kMaxModelParameters = 1e8;
// Largest number of values between two layers, per sample. With the limits of attributes, no 64-bit count can overflow.
constexpr std::int64_t kMaxValues = 100'000'000;

/// Reads layers in order, and tracks the shape of the values between them.
class LayersReader {
 public:
  LayersReader(const DataFindings& data, const ReadContext& context) : context_(context), classes_(data.classes) {
    if (data.classes > 0 && data.shape.size() > 0) shape_ = data.shape;
  }

  /// Reads the layers inside an element. `last` is the layer that produces the logits, if it is among them.
  std::vector<spec::LayerSpec> read_inside(const Element& element, const Element* last) {
    std::vector<spec::LayerSpec> layers;
    for (const Element& child : element.children) {
      if (!is_layer(child)) continue;
      if (++count_ > kMaxModelLayers) {
        count_ += layers_inside(child);
        continue;
      }
      std::optional<spec::LayerSpec> layer = read(Node(child, context_.findings), &child == last);
      if (layer) {
        pass(*layer, child.origin, child.name != "residual");
        layers.push_back(std::move(*layer));
      } else {
        shape_.reset();
      }
    }
    return layers;
  }

  /// Appends the layers to which an element expands.
  void follow(const std::vector<spec::LayerSpec>& layers, const Origin& origin) {
    for (const spec::LayerSpec& layer : layers) {
      ++count_;
      const auto* residual = std::get_if<spec::ResidualSpec>(&layer.what);
      if (residual != nullptr) {
        in_branches([&] { follow(residual->layers, origin); }, [&] { follow(residual->shortcut, origin); });
      }
      pass(layer, origin, residual == nullptr);
    }
  }

  static bool is_layer(const Element& element) {
    return !element.in_namespace && std::ranges::find(layer_names(), element.name) != layer_names().end();
  }

  std::size_t count() const { return count_; }
  double parameters() const { return parameters_; }
  /// Returns the shape of the last layer's output; nullopt after an error.
  const std::optional<spec::SampleShape>& shape() const { return shape_; }

 private:
  /// Reads a layer; returns nullopt if its input shape is unknown.
  std::optional<spec::LayerSpec> read(const Node& node, bool last) {
    if (node.element().name == "residual") return read_residual(node);
    const auto row =
        std::ranges::find(layer_rows(), node.element().name, [](const LayerRow& one) { return one.rule.name; });
    spec::LayerSpec layer = row->read(node, context_);
    auto* dense = std::get_if<spec::DenseSpec>(&layer.what);
    auto* pool = std::get_if<spec::PoolSpec>(&layer.what);
    if (dense != nullptr && last && !node.has("activation")) dense->activation = spec::Activation::identity;
    if (pool != nullptr && !node.has("stride")) pool->stride = pool->size;
    if (!has_shape(node)) return std::nullopt;
    if (dense != nullptr && last && classes_ > 0 && dense->units != classes_)
      node.fail_at("units", "needs one unit per class in the last layer",
                   fmt::format("set units=\"{}\", one unit per class", classes_));
    return layer;
  }

  /// Returns whether the attributes that determine the layer's shape are given and valid.
  static bool has_shape(const Node& node) {
    return std::ranges::all_of(find_rule(node.element().name)->attributes, [&](const AttributeRule& rule) {
      if (rule.kind.of != Kind::Of::integer && rule.name != "positions") return true;
      return node.has(rule.name) ? takes(rule.kind, node.text(rule.name, "")) : !rule.required;
    });
  }

  std::optional<spec::LayerSpec> read_residual(const Node& node) {
    spec::ResidualSpec residual;
    residual_table().read(node, context_, residual);
    const auto read_shortcut = [&] {
      const Element* shortcut = node.child("shortcut");
      if (shortcut == nullptr) return;
      const Node inside(*shortcut, context_.findings);
      residual.shortcut = read_inside(*shortcut, nullptr);
      if (!holds_layers(*shortcut)) {
        inside.fail("<shortcut> lacks layers", "add at least one layer, or remove <shortcut> to add the input itself");
      }
    };
    in_branches([&] { residual.layers = read_inside(node.element(), nullptr); }, read_shortcut);
    if (!holds_layers(node.element()))
      node.fail("<residual> lacks layers", "add at least one layer in addition to <shortcut>");
    return residual;
  }

  static std::size_t layers_inside(const Element& element) {
    std::size_t count = 0;
    for (const Element& child : element.children) count += (is_layer(child) ? 1 : 0) + layers_inside(child);
    return count;
  }

  static bool holds_layers(const Element& element) { return std::ranges::any_of(element.children, is_layer); }

  /// Reads two branches that begin at the same shape, then restores this shape, so that the whole residual is checked
  /// as one layer.
  template <class First, class Second>
  void in_branches(const First& first, const Second& second) {
    const std::optional<spec::SampleShape> before = shape_;
    first();
    const bool known = shape_.has_value();
    shape_ = before;
    second();
    shape_ = known && shape_ ? before : std::nullopt;
  }

  /// Continues with the shape after a layer. `counted`: counts its parameters, unless a residual has counted them
  /// already.
  void pass(const spec::LayerSpec& layer, const Origin& origin, bool counted) {
    if (!shape_) return;
    try {
      const spec::SampleShape out = output_shape(layer, *shape_);
      if (counted) parameters_ += static_cast<double>(parameters_of(layer, *shape_));
      shape_ = out;
      if (out.size() <= kMaxValues) return;
      shape_.reset();
      context_.findings.add(origin, fmt::format("the layer gives {} values per sample", out.size()),
                            fmt::format("at most {}", kMaxValues));
    } catch (const spec::ModelMistake& mistake) {
      shape_.reset();
      context_.findings.add(origin, mistake.what(), mistake.remedy());
    }
  }

  const ReadContext& context_;
  std::int64_t classes_;
  std::optional<spec::SampleShape> shape_;
  std::size_t count_ = 0;
  double parameters_ = 0;
};

/// Expands <model preset="…">.
std::optional<spec::ModelSpec> read_preset(const Node& node, const DataFindings& data, const ReadContext& context) {
  std::vector<ParameterOwner> presets;
  std::vector<std::string> names;
  for (const spec::Preset& preset : spec::preset_registry().all()) {
    presets.push_back({preset.name, preset.parameters});
    names.push_back(preset.name);
  }
  const std::optional<std::string> name = node.required_text("preset", context.findings.suggest("", names));
  if (!name) return std::nullopt;
  const spec::Preset* preset = spec::preset_registry().find(*name);
  if (preset == nullptr) {
    node.fail_at("preset", "is unknown", context.findings.suggest(*name, names));
    return std::nullopt;
  }
  const std::size_t wrong = context.findings.added();
  if (!node.element().children.empty()) {
    node.fail(fmt::format("layers beside preset=\"{}\"", *name), "use either a preset or layers");
  }
  spec::ParameterValues values;
  for (const spec::ParameterSpec& parameter : preset->parameters)
    values[parameter.name] = read_parameter(node, parameter, context);
  check_parameter_names(node, {preset->name, preset->parameters}, presets, context);
  if (context.findings.added() != wrong || data.classes < 1 || data.shape.size() < 1) return std::nullopt;
  try {
    return preset->make(values, data.shape, data.classes);
  } catch (const spec::ModelMistake& mistake) {
    node.fail(mistake.what(), mistake.remedy());
    return std::nullopt;
  }
}

/// Refuses attributes for parameters of presets if there is no preset.
void refuse_parameters(const Node& node, const ReadContext& context) {
  const std::vector<std::string> known = find_rule("model")->attribute_names();
  for (const Attribute& attribute : node.element().attributes) {
    // Namespaced attributes have been reported already.
    if (attribute.name.find(':') != std::string::npos || attribute.name == "xmlns") continue;
    if (std::ranges::find(known, attribute.name) != known.end()) continue;
    context.findings.add(
        attribute.origin, fmt::format("unknown attribute '{}' of <model>", printable(attribute.name)),
        fmt::format("{}; parameters need a preset=\"…\"", context.findings.suggest(attribute.name, known)));
  }
}

/// Checks that there is one logit per class for every label.
void check_logits(const spec::SampleShape& logits, const Element* last, const Origin& origin, const DataFindings& data,
                  const ReadContext& context) {
  if (logits.positions() != data.labels_per_sample) {
    const bool one = data.labels_per_sample == 1;
    context.findings.add(
        origin,
        fmt::format("the model gives logits at {} position{}, but a sample has {} label{}", logits.positions(),
                    logits.positions() == 1 ? "" : "s", data.labels_per_sample, one ? "" : "s"),
        one ? "add <mean/>, <select/> or a <dense> with positions=\"together\" before the end"
            : "use <dense> with positions=\"each\" as the last layer, and no layer that merges positions");
  } else if (logits.channels != data.classes && (last == nullptr || last->name != "dense")) {
    context.findings.add(
        origin, fmt::format("the model gives {} logits, but the data have {} classes", logits.channels, data.classes),
        fmt::format("use <dense units=\"{}\"/> as the last layer", data.classes));
  }
}

}  // namespace

spec::ModelSpec read_model(const Element& element, const DataFindings& data, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::ModelSpec model;
  LayersReader reader(data, context);
  const Element* last = nullptr;
  if (node.has("preset")) {
    std::optional<spec::ModelSpec> preset = read_preset(node, data, context);
    if (!preset) return model;
    model = std::move(*preset);
    reader.follow(model.layers, node.origin());
  } else {
    refuse_parameters(node, context);
    for (const Element& child : element.children) {
      if (LayersReader::is_layer(child)) last = &child;
    }
    if (last == nullptr) {
      node.fail("<model> lacks layers",
                "add at least one layer, the last a <dense> with one unit per class; or set preset=\"…\"");
    }
    model.layers = reader.read_inside(element, last);
  }
  if (node.has("name")) {
    model.name = node.required_text("name", "a name for the network").value_or("");
    if (model.name.size() > kMaxName) {
      node.fail_at("name", fmt::format("has {} bytes", model.name.size()), fmt::format("at most {}", kMaxName));
    }
  }
  if (reader.count() > kMaxModelLayers) {
    node.fail(fmt::format("<model> has {} layers", reader.count()), fmt::format("at most {}", kMaxModelLayers));
    return model;
  }
  if (reader.shape() && reader.count() > 0) {
    check_logits(*reader.shape(), last, last == nullptr ? node.origin() : last->origin, data, context);
    if (reader.parameters() > kMaxModelParameters) {
      node.fail(fmt::format("<model> has {:.3g} parameters", reader.parameters()),
                fmt::format("use at most {:g}, since the model is really trained; time a larger one with <timed-as>",
                            kMaxModelParameters));
    }
  }
  return model;
}

void write_model(XmlWriter& xml, const spec::ModelSpec& model) {
  XmlWriter::Open element(xml, "model");
  if (!model.name.empty()) element.set("name", model.name);
  write_layers(xml, model.layers);
}

std::vector<ElementRule> model_rules() {
  std::vector<ElementRule> rules{
      element("model",
              "The learning network: its layers from the input on, or a preset. The loss is softmax cross-entropy.",
              {attribute("name", text()), attribute("preset", name_in("models"))})
          .holds(layer_names())
          .takes_parameters("Parameters of the preset; `dadsim models` lists them with their ranges and defaults.")};
  for (const LayerRow& row : layer_rows()) rules.push_back(row.rule);
  rules.push_back(residual_table().rule());
  rules.push_back(element("shortcut", "The layers of the second branch of a residual.").holds(layer_names()));
  return rules;
}

}  // namespace dadsim::scenario
