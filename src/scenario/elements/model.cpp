#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parameter.hpp"
#include "spec/model_shape.hpp"
#include "spec/preset.hpp"

namespace dadsim::scenario {
namespace {

// Tables of the layers of <model>.
const Table<spec::DenseSpec>& dense_table() {
  using Spec = spec::DenseSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "dense", "A fully connected layer.",
          {attribute("units", &Spec::units, integer(1, 1'000'000)).must(),
           attribute("activation", &Spec::activation)
               .without_default()
               .if_left_out("`relu`; of the last layer `identity`"),
           attribute("bias", &Spec::bias),
           attribute("positions", &Spec::each_position, one_of({"together", "each"})).if_left_out("`together`"),
           attribute("initial", &Spec::initial_limit, real({.minimum = 0, .maximum = 1e3, .open_minimum = true}))
               .if_left_out("√(6/inputs) before ReLU and GELU (He et al.), otherwise √(6/(inputs + units)) (Glorot and "
                            "Bengio)")})
          .repeats();
  return kTable;
}

const Table<spec::ConvolutionSpec>& convolution_table() {
  using Spec = spec::ConvolutionSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "convolution", "A convolution of an image with square kernels.",
          {attribute("filters", &Spec::filters, integer(1, 1'000'000)).must(),
           attribute("kernel", &Spec::kernel, integer(1, 100)), attribute("stride", &Spec::stride, integer(1, 100)),
           attribute("padding", &Spec::padding, integer(0, 100)), attribute("activation", &Spec::activation),
           attribute("bias", &Spec::bias),
           attribute("initial", &Spec::initial_limit, real({.minimum = 0, .maximum = 1e3, .open_minimum = true}))
               .if_left_out("√(6/(kernel² · channels)) before ReLU and GELU (He et al.), otherwise √(6/(kernel² · "
                            "(channels + filters))) (Glorot and Bengio)")})
          .repeats();
  return kTable;
}

const Table<spec::PoolSpec>& max_pool_table() {
  using Spec = spec::PoolSpec;
  static const Table<Spec> kTable =
      Table<Spec>("max-pool", "The largest value of each square window of an image, channel by channel.",
                  {attribute("size", &Spec::size, integer(1, 100)),
                   attribute("stride", &Spec::stride, integer(1, 100)).without_default().if_left_out("the size")},
                  {.kind = Spec::Kind::maximum})
          .repeats();
  return kTable;
}

const Table<spec::PoolSpec>& mean_pool_table() {
  using Spec = spec::PoolSpec;
  static const Table<Spec> kTable =
      Table<Spec>("mean-pool", "The mean of each square window of an image, channel by channel.",
                  {attribute("size", &Spec::size, integer(1, 100)),
                   attribute("stride", &Spec::stride, integer(1, 100)).without_default().if_left_out("the size")},
                  {.kind = Spec::Kind::mean})
          .repeats();
  return kTable;
}

const Table<spec::MeanSpec>& mean_table() {
  using Spec = spec::MeanSpec;
  static const Table<Spec> kTable =
      Table<Spec>("mean", "The mean over all positions, channel by channel.", {}).repeats();
  return kTable;
}

const Table<spec::SelectSpec>& select_table() {
  using Spec = spec::SelectSpec;
  static const Table<Spec> kTable =
      Table<Spec>("select", "One position alone.",
                  {attribute("position", &Spec::last, one_of({"first", "last"})).if_left_out("`first`")})
          .repeats();
  return kTable;
}

const Table<spec::RecurrentSpec>& gru_table() {
  using Spec = spec::RecurrentSpec;
  static const Table<Spec> kTable =
      Table<Spec>("gru", "A gated recurrent unit over the positions; gives its state at each.",
                  {attribute("units", &Spec::units, integer(1, 1'000'000)).must(), attribute("bias", &Spec::bias)},
                  {.cell = Spec::Cell::gru})
          .repeats();
  return kTable;
}

const Table<spec::RecurrentSpec>& lstm_table() {
  using Spec = spec::RecurrentSpec;
  static const Table<Spec> kTable =
      Table<Spec>("lstm", "A long short-term memory over the positions; gives its output at each.",
                  {attribute("units", &Spec::units, integer(1, 1'000'000)).must(), attribute("bias", &Spec::bias)},
                  {.cell = Spec::Cell::lstm})
          .repeats();
  return kTable;
}

const Table<spec::AttentionSpec>& attention_table() {
  using Spec = spec::AttentionSpec;
  static const Table<Spec> kTable =
      Table<Spec>("attention", "Multi-head self-attention over the positions, with its projections.",
                  {attribute("heads", &Spec::heads, integer(1, 1'000'000)), attribute("causal", &Spec::causal),
                   attribute("bias", &Spec::bias)})
          .repeats();
  return kTable;
}

const Table<spec::LayerNormSpec>& layer_norm_table() {
  using Spec = spec::LayerNormSpec;
  static const Table<Spec> kTable =
      Table<Spec>("layer-norm",
                  "Mean 0 and variance 1 over the channels of each position, then a learned gain and shift.",
                  {attribute("epsilon", &Spec::epsilon, real(kPositiveShare))})
          .repeats();
  return kTable;
}

const Table<spec::BatchNormSpec>& batch_norm_table() {
  using Spec = spec::BatchNormSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "batch-norm",
          "Mean 0 and variance 1 of each channel over the samples and positions of a worker, then a learned gain and "
          "shift.",
          {attribute("epsilon", &Spec::epsilon, real(kPositiveShare)),
           attribute("momentum", &Spec::momentum, real(kPositiveShare)),
           attribute("activation", &Spec::activation).if_left_out("`identity`")})
          .repeats();
  return kTable;
}

const Table<spec::EmbeddingSpec>& embedding_table() {
  using Spec = spec::EmbeddingSpec;
  static const Table<Spec> kTable =
      Table<Spec>("embedding", "A learned vector for each symbol: the first layer where the data are symbols.",
                  {attribute("units", &Spec::units, integer(1, 1'000'000)).must()})
          .repeats();
  return kTable;
}

const Table<spec::PositionsSpec>& positions_table() {
  using Spec = spec::PositionsSpec;
  static const Table<Spec> kTable = Table<Spec>("positions", "Adds a learned vector at each position.", {}).repeats();
  return kTable;
}

const Table<spec::ClassTokenSpec>& class_token_table() {
  using Spec = spec::ClassTokenSpec;
  static const Table<Spec> kTable =
      Table<Spec>("class-token", "Puts a learned position before the others.", {}).repeats();
  return kTable;
}

const Table<spec::DropoutSpec>& dropout_table() {
  using Spec = spec::DropoutSpec;
  static const Table<Spec> kTable =
      Table<Spec>("dropout", "Sets values to zero at random in training, and scales the others.",
                  {attribute("rate", &Spec::rate, real(kDecay))})
          .repeats();
  return kTable;
}

const Table<spec::ResidualSpec>& residual_table() {
  using Spec = spec::ResidualSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "residual",
          "The sum of the output of its layers and its shortcut: the input itself unless it holds a shortcut element.",
          {attribute("activation", &Spec::activation).if_left_out("`identity`")})
          .holds(kLayers)
          .holds({"shortcut"})
          .repeats();
  return kTable;
}

namespace {

const Table<spec::DenseSpec>& table_of(const spec::DenseSpec&) { return dense_table(); }
const Table<spec::ConvolutionSpec>& table_of(const spec::ConvolutionSpec&) { return convolution_table(); }
const Table<spec::PoolSpec>& table_of(const spec::PoolSpec& pool) {
  return pool.kind == spec::PoolSpec::Kind::maximum ? max_pool_table() : mean_pool_table();
}
const Table<spec::MeanSpec>& table_of(const spec::MeanSpec&) { return mean_table(); }
const Table<spec::SelectSpec>& table_of(const spec::SelectSpec&) { return select_table(); }
const Table<spec::RecurrentSpec>& table_of(const spec::RecurrentSpec& layer) {
  return layer.cell == spec::RecurrentSpec::Cell::gru ? gru_table() : lstm_table();
}
const Table<spec::AttentionSpec>& table_of(const spec::AttentionSpec&) { return attention_table(); }
const Table<spec::LayerNormSpec>& table_of(const spec::LayerNormSpec&) { return layer_norm_table(); }
const Table<spec::BatchNormSpec>& table_of(const spec::BatchNormSpec&) { return batch_norm_table(); }
const Table<spec::EmbeddingSpec>& table_of(const spec::EmbeddingSpec&) { return embedding_table(); }
const Table<spec::PositionsSpec>& table_of(const spec::PositionsSpec&) { return positions_table(); }
const Table<spec::ClassTokenSpec>& table_of(const spec::ClassTokenSpec&) { return class_token_table(); }
const Table<spec::DropoutSpec>& table_of(const spec::DropoutSpec&) { return dropout_table(); }

}  // namespace

void write_layers(XmlWriter& xml, const std::vector<spec::LayerSpec>& layers) {
  for (const spec::LayerSpec& layer : layers) {
    const auto* residual = std::get_if<spec::ResidualSpec>(&layer.what);
    if (residual == nullptr) {
      std::visit(
          [&](const auto& what) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(what)>, spec::ResidualSpec>)
              table_of(what).print(xml, what, {});
          },
          layer.what);
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
constexpr std::size_t kMaxName = 100;  // bytes
// Most parameters learned for real, in floats, with gradients and the optimizer's moments: about 2 GB.
constexpr double kMaxModelParameters = 1e8;
// Most values between two layers, per sample. With the limits of attributes no 64-bit count overflows.
constexpr std::int64_t kMaxValues = 100'000'000;

/// Reads layers one after the other and tracks the shape of the values between them.
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

  /// Appends layers that an element expands to.
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
    return !element.in_namespace && std::ranges::find(kLayers, element.name) != kLayers.end();
  }

  std::size_t count() const { return count_; }
  double parameters() const { return parameters_; }
  /// Returns the shape of the last layer's output; nullopt if something is wrong.
  const std::optional<spec::SampleShape>& shape() const { return shape_; }

 private:
  /// Reads a layer; nullopt if the shape is not known.
  std::optional<spec::LayerSpec> read(const Node& node, bool last) {
    const std::string& name = node.element().name;
    if (name == "dense") return read_dense(node, last);
    if (name == "convolution") return read_layer(node, convolution_table());
    if (name == "max-pool") return read_pool(node, max_pool_table());
    if (name == "mean-pool") return read_pool(node, mean_pool_table());
    if (name == "mean") return spec::MeanSpec{};
    if (name == "select") return read_layer(node, select_table());
    if (name == "gru") return read_layer(node, gru_table());
    if (name == "lstm") return read_layer(node, lstm_table());
    if (name == "attention") return read_layer(node, attention_table());
    if (name == "layer-norm") return read_layer(node, layer_norm_table());
    if (name == "batch-norm") return read_layer(node, batch_norm_table());
    if (name == "embedding") return read_layer(node, embedding_table());
    if (name == "positions") return spec::PositionsSpec{};
    if (name == "class-token") return spec::ClassTokenSpec{};
    if (name == "dropout") return read_layer(node, dropout_table());
    if (name == "residual") return read_residual(node);
    throw std::logic_error("a layer without a reader: " + name);
  }

  /// Returns whether the sizes that determine shapes are given and valid.
  static bool has_shape(const Node& node) {
    return std::ranges::all_of(find_rule(node.element().name)->attributes, [&](const AttributeRule& rule) {
      if (rule.kind.of != Kind::Of::integer && rule.name != "positions") return true;
      return node.has(rule.name) ? takes(rule.kind, node.text(rule.name, "")) : !rule.required;
    });
  }

  template <class Spec>
  std::optional<spec::LayerSpec> read_layer(const Node& node, const Table<Spec>& table) {
    Spec layer = table.read(node, context_);
    if (!has_shape(node)) return std::nullopt;
    return layer;
  }

  std::optional<spec::LayerSpec> read_dense(const Node& node, bool last) {
    spec::DenseSpec dense;
    if (last) dense.activation = spec::Activation::identity;
    dense_table().read(node, context_, dense);
    if (!has_shape(node)) return std::nullopt;
    if (last && classes_ > 0 && dense.units != classes_) {
      node.fail_at("units", "does not fit the data as the last layer",
                   fmt::format("the data have {} classes", classes_));
    }
    return dense;
  }

  std::optional<spec::LayerSpec> read_pool(const Node& node, const Table<spec::PoolSpec>& table) {
    spec::PoolSpec pool = table.read(node, context_);
    if (!node.has("stride")) pool.stride = pool.size;
    if (!has_shape(node)) return std::nullopt;
    return pool;
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
        inside.fail("<shortcut> lacks layers", "add at least one, or remove <shortcut>: the input itself is added");
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

  /// Reads two branches that begin at the same shape, and returns to it, so that the result can be checked as a whole.
  template <class First, class Second>
  void in_branches(const First& first, const Second& second) {
    const std::optional<spec::SampleShape> before = shape_;
    first();
    const bool known = shape_.has_value();
    shape_ = before;
    second();
    shape_ = known && shape_ ? before : std::nullopt;
  }

  /// Continues after a layer. `counted`: with its parameters; those inside a residual are counted already.
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

/// Refuses parameters: without a preset only the language's own attributes are allowed.
void refuse_parameters(const Node& node, const ReadContext& context) {
  const std::vector<std::string> known = find_rule("model")->attribute_names();
  for (const Attribute& attribute : node.element().attributes) {
    if (attribute.name.find(':') != std::string::npos || attribute.name == "xmlns") continue;  // refused already
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
        fmt::format("logits at {} position{} for a sample that has {} label{}", logits.positions(),
                    logits.positions() == 1 ? "" : "s", data.labels_per_sample, one ? "" : "s"),
        one ? "add <mean/>, <select/> or a <dense> with positions=\"together\" before the end"
            : "keep a value per position to the end: use <dense> with positions=\"each\" as the last layer");
  } else if (logits.channels != data.classes && (last == nullptr || last->name != "dense")) {
    context.findings.add(origin, fmt::format("{} logits, and the data have {} classes", logits.channels, data.classes),
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
                fmt::format("at most {:g}, since the model is learned for real; time a larger one with <timed-as>",
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
  return {element("model", "The network that learns: layers, input first, then softmax cross-entropy; or a preset.",
                  {attribute("name", text()), attribute("preset", name_in("models"))})
              .holds(kLayers)
              .takes_parameters("Parameters of the preset; `dadsim models` lists them with their ranges and defaults."),
          dense_table().rule(),
          convolution_table().rule(),
          max_pool_table().rule(),
          mean_pool_table().rule(),
          mean_table().rule(),
          select_table().rule(),
          gru_table().rule(),
          lstm_table().rule(),
          attention_table().rule(),
          layer_norm_table().rule(),
          batch_norm_table().rule(),
          embedding_table().rule(),
          positions_table().rule(),
          class_token_table().rule(),
          dropout_table().rule(),
          residual_table().rule(),
          element("shortcut", "The layers of the other branch of a residual.").holds(kLayers)};
}

}  // namespace dadsim::scenario
