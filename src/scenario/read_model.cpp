#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "scenario/read.hpp"
#include "scenario/read_parameter.hpp"
#include "spec/model_shape.hpp"
#include "spec/preset.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::int64_t kMaxUnits = 1'000'000;
constexpr std::int64_t kMaxPixels = 100;  // of a kernel, a stride, a padding
constexpr std::size_t kMaxModelLayers = 1000;
constexpr std::size_t kMaxName = 100;  // bytes
// Learned for real, in floats, with gradients and the optimizer's moments: about 2 GB.
constexpr double kMaxModelParameters = 1e8;
// Between two layers, of one sample. With the limits above no count of 64 bits overflows.
constexpr std::int64_t kMaxValues = 100'000'000;

constexpr Range kRate{.minimum = 0, .maximum = 1, .open_maximum = true};

/// Reads layers one after the other and follows the shape of what flows through them.
class LayersReader {
 public:
  LayersReader(const DataFindings& data, const ReadContext& context) : context_(context), classes_(data.classes) {
    if (data.classes > 0 && data.shape.size() > 0) shape_ = data.shape;
  }

  /// The layers inside an element. `last` is the one that gives the logits, if it is among them.
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

  /// Layers that an element stands for.
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
    const std::vector<std::string>& names = find_rule("shortcut")->children;
    return !element.in_namespace && std::ranges::find(names, element.name) != names.end();
  }

  std::size_t count() const { return count_; }
  double parameters() const { return parameters_; }
  /// The shape of what the last layer gives; nullopt if something is wrong.
  const std::optional<spec::SampleShape>& shape() const { return shape_; }

 private:
  /// nullopt if its shape is not known.
  std::optional<spec::LayerSpec> read(const Node& node, bool last) {
    const std::string& name = node.element().name;
    if (name == "dense") return read_dense(node, last);
    if (name == "convolution") return read_convolution(node);
    if (name == "max-pool") return read_pool(node, spec::PoolSpec::Kind::maximum);
    if (name == "mean-pool") return read_pool(node, spec::PoolSpec::Kind::mean);
    if (name == "mean") return spec::MeanSpec{};
    if (name == "select") return spec::SelectSpec{.last = node.choice("position", kSelected, 0) == 1};
    if (name == "gru") return read_recurrent(node, spec::RecurrentSpec::Cell::gru);
    if (name == "lstm") return read_recurrent(node, spec::RecurrentSpec::Cell::lstm);
    if (name == "attention") return read_attention(node);
    if (name == "layer-norm")
      return spec::LayerNormSpec{node.real("epsilon", kPositiveShare, spec::LayerNormSpec{}.epsilon)};
    if (name == "batch-norm") return read_batch_norm(node);
    if (name == "embedding") return read_embedding(node);
    if (name == "positions") return spec::PositionsSpec{};
    if (name == "class-token") return spec::ClassTokenSpec{};
    if (name == "dropout") return spec::DropoutSpec{node.real("rate", kRate, spec::DropoutSpec{}.rate)};
    if (name == "residual") return read_residual(node);
    throw std::logic_error("a layer without a reader: " + name);
  }

  /// Takes a number that may be left out; false if it is wrong.
  static bool take(const Node& node, const char* attribute, std::int64_t minimum, std::int64_t maximum,
                   std::int64_t& value) {
    if (!node.has(attribute)) return true;
    const std::optional<std::int64_t> given = node.integer(attribute, minimum, maximum);
    value = given.value_or(value);
    return given.has_value();
  }

  static spec::Activation activation(const Node& node, spec::Activation fallback) {
    static const std::vector<std::string> kActivations = [] {
      std::vector<std::string> names;
      for (const spec::Activation one : {spec::Activation::identity, spec::Activation::relu, spec::Activation::tanh,
                                         spec::Activation::sigmoid, spec::Activation::gelu}) {
        names.emplace_back(to_string(one));
      }
      return names;
    }();
    return static_cast<spec::Activation>(node.choice("activation", kActivations, static_cast<std::size_t>(fallback)));
  }

  std::optional<spec::LayerSpec> read_dense(const Node& node, bool last) {
    spec::DenseSpec dense;
    const std::optional<std::int64_t> units = node.integer("units", 1, kMaxUnits);
    dense.units = units.value_or(0);
    dense.activation = activation(node, last ? spec::Activation::identity : spec::Activation::relu);
    dense.bias = node.boolean("bias", dense.bias);
    const std::size_t wrong = context_.findings.added();
    dense.each_position = node.choice("positions", kPositions, 0) == 1;
    if (!units || context_.findings.added() != wrong) return std::nullopt;
    if (last && classes_ > 0 && dense.units != classes_) {
      node.fail_at("units", "does not fit the data as the last layer",
                   fmt::format("the data have {} classes", classes_));
    }
    return dense;
  }

  static std::optional<spec::LayerSpec> read_convolution(const Node& node) {
    spec::ConvolutionSpec spec;
    const std::optional<std::int64_t> filters = node.integer("filters", 1, kMaxUnits);
    spec.filters = filters.value_or(0);
    bool right = take(node, "kernel", 1, kMaxPixels, spec.kernel);
    right = take(node, "stride", 1, kMaxPixels, spec.stride) && right;
    right = take(node, "padding", 0, kMaxPixels, spec.padding) && right;
    spec.activation = activation(node, spec.activation);
    spec.bias = node.boolean("bias", spec.bias);
    if (!filters || !right) return std::nullopt;
    return spec;
  }

  static std::optional<spec::LayerSpec> read_pool(const Node& node, spec::PoolSpec::Kind kind) {
    spec::PoolSpec pool;
    pool.kind = kind;
    bool right = take(node, "size", 1, kMaxPixels, pool.size);
    pool.stride = pool.size;
    right = take(node, "stride", 1, kMaxPixels, pool.stride) && right;
    if (!right) return std::nullopt;
    return pool;
  }

  static std::optional<spec::LayerSpec> read_recurrent(const Node& node, spec::RecurrentSpec::Cell cell) {
    const std::optional<std::int64_t> units = node.integer("units", 1, kMaxUnits);
    spec::RecurrentSpec spec{.cell = cell, .units = units.value_or(0)};
    spec.bias = node.boolean("bias", spec.bias);
    if (!units) return std::nullopt;
    return spec;
  }

  static std::optional<spec::LayerSpec> read_attention(const Node& node) {
    spec::AttentionSpec spec;
    const bool right = take(node, "heads", 1, kMaxUnits, spec.heads);
    spec.causal = node.boolean("causal", spec.causal);
    spec.bias = node.boolean("bias", spec.bias);
    if (!right) return std::nullopt;
    return spec;
  }

  static std::optional<spec::LayerSpec> read_batch_norm(const Node& node) {
    spec::BatchNormSpec spec;
    spec.epsilon = node.real("epsilon", kPositiveShare, spec.epsilon);
    spec.momentum = node.real("momentum", kPositiveShare, spec.momentum);
    spec.activation = activation(node, spec.activation);
    return spec;
  }

  static std::optional<spec::LayerSpec> read_embedding(const Node& node) {
    const std::optional<std::int64_t> units = node.integer("units", 1, kMaxUnits);
    if (!units) return std::nullopt;
    return spec::EmbeddingSpec{*units};
  }

  std::optional<spec::LayerSpec> read_residual(const Node& node) {
    spec::ResidualSpec residual;
    residual.activation = activation(node, residual.activation);
    const auto read_shortcut = [&] {
      const Element* shortcut = node.child("shortcut");
      if (shortcut == nullptr) return;
      const Node inside(*shortcut, context_.findings);
      residual.shortcut = read_inside(*shortcut, nullptr);
      if (!holds_layers(*shortcut)) {
        inside.fail("<shortcut> lacks layers", "at least one; without <shortcut> the input itself is added");
      }
    };
    in_branches([&] { residual.layers = read_inside(node.element(), nullptr); }, read_shortcut);
    if (!holds_layers(node.element())) node.fail("<residual> lacks layers", "at least one beside <shortcut>");
    return residual;
  }

  static std::size_t layers_inside(const Element& element) {
    std::size_t count = 0;
    for (const Element& child : element.children) count += (is_layer(child) ? 1 : 0) + layers_inside(child);
    return count;
  }

  static bool holds_layers(const Element& element) { return std::ranges::any_of(element.children, is_layer); }

  /// Reads two branches that begin at the same shape, and comes back to it, so that the whole can be followed.
  template <class First, class Second>
  void in_branches(const First& first, const Second& second) {
    const std::optional<spec::SampleShape> before = shape_;
    first();
    const bool known = shape_.has_value();
    shape_ = before;
    second();
    shape_ = known && shape_ ? before : std::nullopt;
  }

  /// On behind a layer. `counted`: with its parameters, which those inside a residual have told already.
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

  static inline const std::array<std::string, 2> kPositions = {"together", "each"};
  static inline const std::array<std::string, 2> kSelected = {"first", "last"};

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
    node.fail(fmt::format("layers beside preset=\"{}\"", *name), "either a preset or layers");
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

/// Without a preset nothing but the language's own attributes.
void refuse_parameters(const Node& node, const ReadContext& context) {
  const std::vector<std::string>& known = find_rule("model")->attributes;
  for (const Attribute& attribute : node.element().attributes) {
    if (attribute.name.find(':') != std::string::npos || attribute.name == "xmlns") continue;  // refused already
    if (std::ranges::find(known, attribute.name) != known.end()) continue;
    context.findings.add(
        attribute.origin, fmt::format("unknown attribute '{}' of <model>", printable(attribute.name)),
        fmt::format("{}; parameters belong to a preset=\"…\"", context.findings.suggest(attribute.name, known)));
  }
}

/// That there is one logit per class for every label.
void check_logits(const spec::SampleShape& logits, const Element* last, const Origin& origin, const DataFindings& data,
                  const ReadContext& context) {
  if (logits.positions() != data.labels_per_sample) {
    const bool one = data.labels_per_sample == 1;
    context.findings.add(
        origin,
        fmt::format("logits at {} position{} of a sample that has {} label{}", logits.positions(),
                    logits.positions() == 1 ? "" : "s", data.labels_per_sample, one ? "" : "s"),
        one ? "<mean/>, <select/> or a <dense> with positions=\"together\" before the end"
            : "a value at each position to the end: the last layer is a <dense> with positions=\"each\"");
  } else if (logits.channels != data.classes && (last == nullptr || last->name != "dense")) {
    context.findings.add(origin, fmt::format("{} logits, and the data have {} classes", logits.channels, data.classes),
                         fmt::format("<dense units=\"{}\"/> as the last layer", data.classes));
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
      node.fail("<model> lacks layers", "at least one, the last a <dense> with one unit per class; or preset=\"…\"");
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
      node.fail(
          fmt::format("<model> has {:.3g} parameters", reader.parameters()),
          fmt::format("at most {:g}: it is learned for real; time a larger one with <timed-as>", kMaxModelParameters));
    }
  }
  return model;
}

}  // namespace dadsim::scenario
