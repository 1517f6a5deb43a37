#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read_workload.hpp"
#include "scenario/language/node.hpp"
#include "scenario/language/schema.hpp"
#include "scenario/xml/files.hpp"
#include "schedule/schedule.hpp"
#include "schedule/schedule_check.hpp"
#include "spec/payload_specification.hpp"
#include "spec/precision.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

const Catalog kNothingReferredTo;  // workloads and recorded steps name no device, link or method

/// Name of the root element of a recorded step.
constexpr const char* kRecordedStep = "recorded-step";

constexpr std::int64_t kMostRecordedWorkers = 100'000;
constexpr std::size_t kMostRecordedTasks = 1'000'000;

/// Collectives that a recorded step may have.
enum class RecordedKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send };
constexpr auto names_of(RecordedKind) {
  using enum RecordedKind;
  return std::to_array<spec::Name<RecordedKind>>({{all_reduce, "all-reduce"},
                                                  {all_gather, "all-gather"},
                                                  {reduce_scatter, "reduce-scatter"},
                                                  {all_to_all, "all-to-all"},
                                                  {send, "send"}});
}

step::CollectiveKind kind_of(RecordedKind kind) {
  switch (kind) {
    case RecordedKind::all_reduce:
      return step::CollectiveKind::all_reduce;
    case RecordedKind::all_gather:
      return step::CollectiveKind::all_gather;
    case RecordedKind::reduce_scatter:
      return step::CollectiveKind::reduce_scatter;
    case RecordedKind::all_to_all:
      return step::CollectiveKind::all_to_all;
    case RecordedKind::send:
      return step::CollectiveKind::stage_send;
  }
  throw std::logic_error("unknown kind of a recorded collective");
}

/// Group of devices that takes part in a collective.
enum class RecordedGroup : std::uint8_t { replicas, tensor };
constexpr auto names_of(RecordedGroup) {
  using enum RecordedGroup;
  return std::to_array<spec::Name<RecordedGroup>>({{replicas, "replicas"}, {tensor, "tensor"}});
}

struct RecordedHead {
  std::string name;
  std::int64_t workers = 1, tensor = 1, pipeline = 1;
  std::optional<spec::Precision> precision;
};

struct RecordedCompute {
  std::string name, seconds;
  std::optional<std::int64_t> stage;
};

struct RecordedCollective {
  std::string name, bytes;
  RecordedKind kind = RecordedKind::all_reduce;
  RecordedGroup among = RecordedGroup::replicas;
  std::optional<std::int64_t> stage, to;
};

struct RecordedWait {
  std::int64_t number = 1;
  std::optional<std::int64_t> stage;
};

const Table<RecordedHead>& recorded_step_table() {
  using Spec = RecordedHead;
  static const Table<Spec> kTable =
      Table<Spec>(kRecordedStep, "The root of a file with a recorded step; `dadsim import` writes it.",
                  {attribute("name", &Spec::name, text("the name in the result")).must(),
                   attribute("workers", &Spec::workers, integer(1, kMostRecordedWorkers)).must(),
                   attribute("tensor", &Spec::tensor, integer(1, kMostRecordedWorkers)),
                   attribute("pipeline", &Spec::pipeline, integer(1, kMostRecordedWorkers)),
                   attribute("precision", &Spec::precision, one_of<spec::Precision>())
                       .if_left_out("seconds as measured, with concurrent work")})
          .holds({"compute", "collective", "wait"});
  return kTable;
}

const Table<RecordedCompute>& recorded_compute_table() {
  using Spec = RecordedCompute;
  static const Table<Spec> kTable =
      Table<Spec>("compute", "A computation.",
                  {attribute("name", &Spec::name, any_text()).if_given(),
                   attribute("seconds", &Spec::seconds, text("one number, or one per replica")).must(),
                   attribute("stage", &Spec::stage, integer(0, kMostRecordedWorkers)).if_left_out("all workers")})
          .repeats();
  return kTable;
}

const Table<RecordedCollective>& recorded_collective_table() {
  using Spec = RecordedCollective;
  static const Table<Spec> kTable =
      Table<Spec>("collective",
                  "A collective, concurrent with computations; the collectives of a worker run one after another.",
                  {attribute("name", &Spec::name, any_text()).if_given(), attribute("kind", &Spec::kind),
                   attribute("bytes", &Spec::bytes, text("one number, or one per replica")).must(),
                   attribute("among", &Spec::among)
                       .only([](const Spec& spec) { return spec.kind != RecordedKind::send; },
                             "has no effect on a send", "remove it"),
                   attribute("stage", &Spec::stage, integer(0, kMostRecordedWorkers)).if_left_out("all workers"),
                   attribute("to", &Spec::to, integer(0, kMostRecordedWorkers))
                       .only([](const Spec& spec) { return spec.kind == RecordedKind::send; }, "needs kind=\"send\"",
                             "kind=\"send\"")
                       .needed()})
          .repeats();
  return kTable;
}

const Table<RecordedWait>& recorded_wait_table() {
  using Spec = RecordedWait;
  static const Table<Spec> kTable =
      Table<Spec>("wait", "Makes later computations begin after a collective has ended.",
                  {attribute("for", &Spec::number, integer(1, static_cast<std::int64_t>(kMostRecordedTasks))).must(),
                   attribute("stage", &Spec::stage, integer(0, kMostRecordedWorkers)).if_left_out("all workers")})
          .repeats();
  return kTable;
}

/// Returns the amount of each of `count` replicas; the text has one number for all, or one each.
schedule::PerWorker amounts(const Node& node, const char* attribute, const std::string& said, std::size_t count) {
  const std::vector<std::string> words = words_of(said);
  std::vector<double> values;
  for (const std::string& word : words) {
    const std::optional<double> value = parse_real(word);
    if (value && *value >= 0 && *value <= 1e18) values.push_back(*value);
  }
  if (values.size() == words.size() && (values.size() == 1 || values.size() == count))
    return schedule::PerWorker(values);
  if (node.has(attribute))
    node.fail_at(attribute, "is no list of amounts",
                 count == 1 ? std::string("use one number from 0 on")
                            : fmt::format("use one number from 0 on for all, or {}", count));
  return schedule::PerWorker(std::vector<double>(count, 0.0));
}

std::int32_t stage_of(const std::optional<std::int64_t>& said) {
  return said ? static_cast<std::int32_t>(*said) : schedule::kEveryStage;
}

class RecordedStepReader {
 public:
  RecordedStepReader(const RecordedHead& head, const ReadContext& context) : context_(context) {
    schedule_.workers = static_cast<std::size_t>(head.workers);
    schedule_.tensor = static_cast<std::int32_t>(head.tensor);
    schedule_.pipeline = static_cast<std::int32_t>(head.pipeline);
    schedule_.precision = head.precision.value_or(spec::Precision::fp32);
    replicas_ = schedule_.replicas();
  }

  void read(const Element& element) {
    const Node node(element, context_.findings);
    if (element.name == "compute") {
      add_compute(node);
    } else if (element.name == "collective") {
      add_collective(node);
    } else if (element.name == "wait") {
      add_wait(node);
    }
  }

  std::shared_ptr<const schedule::Schedule> take(const Origin& origin) {
    if (!context_.findings.empty()) return nullptr;
    if (schedule_.tasks.empty()) context_.findings.add(origin, "the step is empty", "add <compute> or <collective>");
    if (const std::string fault = schedule::fault_of(schedule_, schedule_.workers, false); !fault.empty())
      context_.findings.add(origin, "the step " + fault, "write the step with `dadsim import`");
    return std::make_shared<const schedule::Schedule>(std::move(schedule_));
  }

 private:
  void add_compute(const Node& node) {
    const RecordedCompute one = recorded_compute_table().read(node, context_);
    schedule::ComputeTask task;
    task.kind = spec::LayerKind::element_wise;
    task.seconds = amounts(node, "seconds", one.seconds, replicas_);
    task.recorded = true;
    schedule_.tasks.push_back({one.name, std::move(task), stage_of(one.stage)});
  }

  void add_collective(const Node& node) {
    const RecordedCollective one = recorded_collective_table().read(node, context_);
    schedule::CollectiveTask task;
    task.kind = kind_of(one.kind);
    task.bytes = amounts(node, "bytes", one.bytes, replicas_);
    task.among = one.kind == RecordedKind::send       ? schedule::Among::stages
                 : one.among == RecordedGroup::tensor ? schedule::Among::tensor
                                                      : schedule::Among::replicas;
    if (one.to) task.to_stage = static_cast<std::int32_t>(*one.to);
    collectives_.push_back(static_cast<std::int32_t>(schedule_.tasks.size()));
    schedule_.tasks.push_back({one.name, std::move(task), stage_of(one.stage)});
  }

  void add_wait(const Node& node) {
    const RecordedWait one = recorded_wait_table().read(node, context_);
    const auto number = static_cast<std::size_t>(one.number);
    if (number > collectives_.size()) {
      node.fail_at("for", "is not the number of an earlier collective",
                   fmt::format("there are {}", collectives_.size()));
      return;
    }
    schedule_.tasks.push_back({"", schedule::WaitTask{.collective = collectives_[number - 1]}, stage_of(one.stage)});
  }

  const ReadContext& context_;
  schedule::Schedule schedule_;
  std::size_t replicas_ = 1;
  std::vector<std::int32_t> collectives_;  ///< task numbers of the collectives
};

/// Reads <recorded-step>: computations with their seconds and collectives with their bytes, in the order in which every
/// worker carries them out. Errors go to the findings.
OwnWorkload read_recorded_step(const Element& root, Findings& findings) {
  constexpr double kNothing = 4;  // bytes: a value without effect, because the network's memory is unknown
  OwnWorkload workload;
  const Node node(root, findings);
  const ReadContext context{root.name, kNothingReferredTo, findings};
  const RecordedHead head = recorded_step_table().read(node, context);
  workload.shape = spec::payload_shape(kNothing);
  workload.shape.name = head.name;
  if (head.workers % (head.tensor * head.pipeline) != 0) {
    node.fail_at("workers", "do not fill whole groups", "use a multiple of tensor × pipeline");
    return workload;
  }
  if (root.children.size() > kMostRecordedTasks) {
    node.fail(fmt::format("more than {} elements", kMostRecordedTasks), "a step with fewer");
    return workload;
  }
  RecordedStepReader reader(head, context);
  for (const Element& child : root.children) reader.read(child);
  workload.recorded = reader.take(root.origin);
  return workload;
}

}  // namespace

std::vector<ElementRule> recorded_step_rules() {
  return {recorded_step_table().rule(), recorded_compute_table().rule(), recorded_collective_table().rule(),
          recorded_wait_table().rule()};
}

namespace {

constexpr std::size_t kMaxWorkloadLayers = 10'000;
constexpr std::size_t kMaxLayerName = 200;  // longest name of a layer, bytes
constexpr std::int64_t kMaxWorkloadParameters = 10'000'000'000'000;
constexpr double kMaxMacs = 1e18;

/// Fields of a layer in a line or an element; nullopt: missing or wrong.
struct LayerFields {
  std::optional<std::string> name;
  std::optional<spec::LayerKind> kind;
  std::optional<std::int64_t> in, out, rows, parameters, sequential;
  std::optional<double> macs, outputs;
};

/// Completes layers from any source, and checks them against each other.
class LayerList {
 public:
  explicit LayerList(Findings& findings) : findings_(findings) {}

  void add(const LayerFields& fields, const Origin& origin) {
    if (fields.name && !names_.insert(*fields.name).second)
      findings_.add(origin, fmt::format("a second layer '{}'", printable(*fields.name)), "use another name");
    if (fields.name && fields.name->size() > kMaxLayerName)
      findings_.add(origin, "the name of a layer is too long", fmt::format("at most {} bytes", kMaxLayerName));
    if (!fields.name || !fields.kind) return;
    spec::LayerShape layer;
    layer.name = *fields.name;
    layer.kind = *fields.kind;
    layer.in = fields.in.value_or(0);
    layer.out = fields.out.value_or(0);
    // For layers without rows of their own, files often contain 0.
    layer.rows_per_sample = std::max<std::int64_t>(1, fields.rows.value_or(1));
    layer.sequential = fields.sequential.value_or(1);
    const bool table = layer.kind == spec::LayerKind::embedding;
    const bool matrix = table || layer.kind == spec::LayerKind::dense || layer.kind == spec::LayerKind::convolution;
    const std::string what = fmt::format("layer '{}' of kind {}", printable(layer.name), to_string(layer.kind));
    if (matrix && (layer.in == 0 || layer.out == 0)) {
      findings_.add(origin, what + " has no matrix",
                    table ? "set 'in' to the width and 'out' to the number of entries"
                          : "set 'in' to the number of inputs and 'out' to the number of outputs");
      return;
    }
    if (!matrix && (layer.in > 0 || layer.out > 0)) {
      findings_.add(origin, what + " has a matrix", "set 'in' and 'out' to 0, and add the matrices as dense layers");
      return;
    }
    const auto entries = static_cast<double>(layer.in) * static_cast<double>(layer.out);
    const auto rows = static_cast<double>(layer.rows_per_sample);
    if (entries > static_cast<double>(kMaxWorkloadParameters)) {
      findings_.add(origin, what + " is too large", fmt::format("at most {} parameters", kMaxWorkloadParameters));
      return;
    }
    layer.parameters = fields.parameters.value_or(static_cast<std::int64_t>(entries));
    layer.bias = matrix && !table && layer.parameters == layer.in * layer.out + layer.out;
    layer.forward_macs_per_sample = fields.macs.value_or(table ? 0 : entries * rows);
    layer.outputs_per_sample = fields.outputs.value_or(rows * static_cast<double>(table ? layer.in : layer.out));
    if (layer.forward_macs_per_sample > kMaxMacs) {
      findings_.add(origin, what + " computes too much",
                    fmt::format("at most {:g} multiply-adds per sample", kMaxMacs));
      return;
    }
    layers_.push_back(std::move(layer));
  }

  /// Returns the layers; adds a finding if they do not form a network.
  std::vector<spec::LayerShape> take(const Origin& origin) {
    if (findings_.empty() && std::ranges::none_of(layers_, &spec::LayerShape::has_outer_product)) {
      findings_.add(origin, "no layer has a matrix",
                    "add at least one layer of kind dense or convolution with at least in × out parameters");
    }
    return std::move(layers_);
  }

 private:
  Findings& findings_;
  std::vector<spec::LayerShape> layers_;
  std::set<std::string> names_;
};

/// Returns the kind of the required attribute `kind`.
Kind kinds() {
  Kind kind = one_of<spec::LayerKind>();
  kind.form = fmt::format("one of {}", fmt::join(kind.names, ", "));
  return kind;
}

const Table<LayerFields>& layer_table() {
  using Spec = LayerFields;
  static const Table<Spec> kTable =
      Table<Spec>(
          "layer", "One layer of a workload, in the order of the forward pass.",
          {attribute("name", &Spec::name, text("use another name")).must(),
           attribute("kind", &Spec::kind, kinds()).must(), attribute("in", &Spec::in, integer(0, 1'000'000'000)),
           attribute("out", &Spec::out, integer(0, 1'000'000'000)),
           attribute("rows-per-sample", &Spec::rows, integer(0, 1'000'000'000)),
           attribute("parameters", &Spec::parameters, integer(0, 10'000'000'000'000)).if_left_out("`in` × `out`"),
           attribute("forward-macs-per-sample", &Spec::macs, real({.minimum = 0, .maximum = 1e18}))
               .if_left_out("`in` × `out` × `rows-per-sample`; 0 for an embedding"),
           attribute("outputs-per-sample", &Spec::outputs, real({.minimum = 0, .maximum = 1e18}))
               .if_left_out("`out` × `rows-per-sample`; `in` × `rows-per-sample` for an embedding"),
           attribute("sequential", &Spec::sequential, integer(1, 1'000'000'000))})
          .repeats();
  return kTable;
}

const Table<OwnWorkload>& workload_table() {
  using Spec = OwnWorkload;
  static const Table<Spec> kTable =
      Table<Spec>("workload", "The root of a file with a workload of your own.",
                  {by_code<Spec>(attribute("name", text("the name in the result")).must(),
                                 [](const Node& node, const ReadContext&, Spec& own) {
                                   own.shape.name = node.required_text("name", "the name in the result").value_or("");
                                 }),
                   attribute("samples-per-epoch", &Spec::dataset_size, integer(1, 1'000'000'000'000))
                       .if_left_out("not counted in epochs")})
          .holds({"layer"});
  return kTable;
}

OwnWorkload read_xml(const std::string& content, Findings& findings) {
  OwnWorkload workload;
  const Element root = parse_xml(content, kWorkloadDocument, findings);
  if (root.name.empty()) return workload;
  if (root.name == kRecordedStep && !root.in_namespace) {
    workload = read_recorded_step(root, findings);
    check_against_schema(root, findings);
    return workload;
  }
  if (root.name != "workload" || root.in_namespace) {
    findings.add(root.origin, fmt::format("the root element is <{}>", printable(root.name)),
                 "use <workload name=\"…\"> as the root, without a namespace");
    return workload;
  }
  const Node node(root, findings);
  const ReadContext context{root.name, kNothingReferredTo, findings};
  workload_table().read(node, context, workload);
  if (node.children("layer").size() > kMaxWorkloadLayers) {
    node.children("layer", kMaxWorkloadLayers);
    return workload;
  }
  LayerList layers(findings);
  for (const Element* element : node.children("layer"))
    layers.add(layer_table().read(*element, context), element->origin);
  workload.shape.layers = layers.take(root.origin);
  check_against_schema(root, findings);
  return workload;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split_at(line, ','))
    cells.push_back(fmt::format("{}", fmt::join(words_of(cell), " ")));
  return cells;
}

/// Reader of a workload as CSV, with the names of the columns in the first line.
class Csv {
 public:
  explicit Csv(Findings& findings) : findings_(findings) {}

  OwnWorkload read(std::string_view content, std::string name) {
    OwnWorkload workload;
    workload.shape.name = std::move(name);
    LayerList layers(findings_);
    std::size_t count = 0;
    int line = 0;
    for (const std::string_view text : lines_of(content)) {
      const Origin origin{"", ++line};
      if (trimmed(text).empty()) continue;
      if (columns_.empty()) {
        if (!read_heading(cells_of(text), origin)) return workload;
        continue;
      }
      if (++count > kMaxWorkloadLayers) {
        findings_.add(origin, fmt::format("more than {} layers", kMaxWorkloadLayers),
                      fmt::format("at most {}", kMaxWorkloadLayers));
        return workload;
      }
      layers.add(read_line(cells_of(text), origin), origin);
    }
    if (columns_.empty()) findings_.add({"", 0}, "the file is empty", kCsvForm);
    workload.shape.layers = layers.take({"", 1});
    return workload;
  }

 private:
  static constexpr const char* kCsvForm =
      "use a heading with layer,kind,in,out,rows_per_sample,parameters,forward_macs_per_sample, or <workload "
      "name=\"…\">";

  bool read_heading(std::vector<std::string> cells, const Origin& origin) {
    std::vector<std::string> known = layer_table().rule().attribute_names();
    for (std::string& name : known) name = column_of(name);
    constexpr std::size_t kRequired = 7;
    const std::size_t before = findings_.added();
    std::set<std::string> seen;
    for (const std::string& cell : cells) {
      if (std::ranges::find(known, cell) == known.end()) {
        findings_.add(origin, fmt::format("unknown column '{}'", printable(cell)), findings_.suggest(cell, known));
      } else if (!seen.insert(cell).second) {
        findings_.add(origin, fmt::format("a second column '{}'", cell), "each once");
      }
    }
    for (std::size_t i = 0; i < kRequired; ++i) {
      if (!seen.contains(known[i]))
        findings_.add(origin, fmt::format("the column '{}' is missing", known[i]), kCsvForm);
    }
    columns_ = std::move(cells);
    return findings_.added() == before;
  }

  LayerFields read_line(const std::vector<std::string>& cells, const Origin& origin) {
    if (cells.size() != columns_.size()) {
      findings_.add(
          origin, fmt::format("{} cells", cells.size()),
          fmt::format("write {} cells as in the heading, separated by commas, without commas inside", columns_.size()));
      return {};
    }
    Element layer{.name = "layer", .origin = origin};
    for (const std::string& name : layer_table().rule().attribute_names()) {
      const auto column = std::ranges::find(columns_, column_of(name));
      if (column != columns_.end())
        layer.attributes.push_back({name, cells[static_cast<std::size_t>(column - columns_.begin())], origin});
    }
    return layer_table().read(layer, {"", kNothingReferredTo, findings_});
  }

  /// Returns the name of the CSV column for an attribute of <layer>: `layer` for name; for others, underscores replace
  /// hyphens.
  static std::string column_of(std::string attribute) {
    std::ranges::replace(attribute, '-', '_');
    return attribute == "name" ? "layer" : attribute;
  }

  Findings& findings_;
  std::vector<std::string> columns_;
};

}  // namespace

std::optional<OwnWorkload> read_workload_file(const std::string& path, Findings& findings) {
  const std::optional<std::string> content = read_document(path, kWorkloadDocument, findings);
  return content ? read_workload(*content, path, findings) : std::nullopt;
}

std::optional<OwnWorkload> read_workload(const std::string& content, const std::string& path, Findings& findings) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::string_view text =
      std::string_view(content).substr(content.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  const bool xml = first != std::string_view::npos && text[first] == '<';
  // Names must be text, because results print them.
  if (!xml && !is_xml_text(text)) {
    findings.add({"", 0}, "the file is not text in UTF-8", "use a workload as XML or CSV");
    return std::nullopt;
  }
  OwnWorkload workload =
      xml ? read_xml(content, findings) : Csv(findings).read(text, std::filesystem::path(path).stem().string());
  if (!findings.empty()) return std::nullopt;
  return workload;
}

std::vector<ElementRule> workload_rules() { return {workload_table().rule(), layer_table().rule()}; }

}  // namespace dadsim::scenario
