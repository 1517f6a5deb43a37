#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

#include "scenario/elements/count_row.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/elements/read_parameter.hpp"
#include "scenario/elements/read_workload.hpp"
#include "scenario/xml/files.hpp"
#include "spec/kept_activations.hpp"
#include "spec/timed_workload.hpp"
#include "spec/workload.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::scenario {
namespace {

constexpr QuantityForm kOperator{
    Unit::seconds, {.minimum = 0, .maximum = 1, .open_minimum = true}, "seconds with their unit, e.g. 40us"};
bool begins_kernels(spec::Program program) {
  return program == spec::Program::eager || program == spec::Program::compiled;
}
constexpr QuantityForm kStartUp{Unit::seconds, {.minimum = 0, .maximum = 1e7}, "seconds with their unit, e.g. 90s"};

/// Gives a row an effect only with 16-bit weights, of which an optimizer may keep fp32 copies.
Row<spec::TimedAsSpec> of_masters(Row<spec::TimedAsSpec> row) {
  return std::move(row)
      .only([](const spec::TimedAsSpec& timed) { return spec::has_master_copies(timed.precision); },
            "needs weights in 16 bit", "set precision=\"bf16\" or \"fp16\", or remove it")
      .if_given();
}

/// Returns the rows of workload sizes, whose rules are in the registry.
std::vector<Row<spec::TimedAsSpec>> size_rows() {
  using Spec = spec::TimedAsSpec;
  std::vector<Row<Spec>> rows;
  for (const spec::ParameterSpec& size : spec::workload_sizes()) {
    Kind kind = size.type == spec::ParameterSpec::Type::choice
                    ? one_of(size.choices)
                    : integer(static_cast<std::int64_t>(size.minimum), static_cast<std::int64_t>(size.maximum));
    std::string words = size.description + ". Only for workloads with this size (`dadsim workloads`).";
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    rows.push_back(by_code<Spec>(attribute(size.name, std::move(kind), words), {},
                                 [name = size.name](const Spec& timed, const PathText&) {
                                   const auto said = timed.sizes.find(name);
                                   return said == timed.sizes.end() ? std::string() : said->second;
                                 })
                       .if_given()
                       .if_left_out("the workload's own"));
  }
  std::ranges::sort(rows, {}, [](const Row<Spec>& row) { return row.rule.name; });
  return rows;
}

/// Reads the workload in file="…".
void read_own_workload(const Node& node, spec::TimedAsSpec& timed, const ReadContext& context,
                       std::shared_ptr<const schedule::Schedule>& recorded) {
  const std::optional<std::string> name = node.required_text("file", "the path of a workload file");
  if (!name) return;
  timed.file = beside(context.path, *name);
  std::error_code error;
  if (!std::filesystem::exists(timed.file, error)) {
    node.fail_at("file", "does not exist",
                 fmt::format("looked for '{}'; the path is relative to the scenario", timed.file));
    return;
  }
  Findings findings(timed.file);
  if (std::optional<OwnWorkload> own = read_workload_file(timed.file, findings)) {
    timed.own_shape = std::move(own->shape);
    timed.own_dataset_size = own->dataset_size;
    recorded = std::move(own->recorded);
  }
  context.findings.take(findings);
}

/// Refuses attributes that apply to layers, for a recorded step.
void refuse_layers(const Node& node) {
  constexpr std::array kOfAnyStep{
      "file",    "batch", "steps", "epochs", "samples", "tokens", "target", "evaluation-every", "evaluation-seconds",
      "start-up"};
  for (const std::string& attribute : find_rule("timed-as")->attribute_names()) {
    if (std::ranges::find(kOfAnyStep, attribute) == kOfAnyStep.end())
      node.refuse(attribute, "needs layers, but the file holds a recorded step", "remove it");
  }
}

/// Returns a workload's adjustable size by name; nullptr if there is no such size or workload.
const spec::ParameterSpec* size_of(const std::string& workload, const std::string& name) {
  const spec::Workload* known = spec::workload_registry().find(workload);
  if (known == nullptr) return nullptr;
  const auto found = std::ranges::find(known->parameters, name, &spec::ParameterSpec::name);
  return found == known->parameters.end() ? nullptr : &*found;
}

/// Checks a user's number of steps to accuracy.
void check_known_steps(const Node& node, const spec::TimedAsSpec& timed, const ReadContext& context) {
  std::string said;  // name of the attribute with the length
  for (const char* one : {"steps", "epochs", "samples", "tokens"}) {
    if (!said.empty()) node.refuse(one, "cannot be combined with " + said, "remove one of the two");
    if (said.empty() && node.has(one)) said = one;
  }
  if (said == "tokens" && timed.of_other_network() && !context.findings.any_at(node.origin("workload"))) {
    if (!size_of(timed.workload, "sequence")) {
      node.fail_at("tokens", "needs a workload whose samples are sequences", "use samples instead");
    }
  } else if (said == "epochs" && timed.of_other_network()) {
    const spec::Workload* workload = spec::workload_registry().find(timed.workload);
    const bool sized = timed.file.empty() ? workload != nullptr && workload->dataset_size > 0
                                          : timed.own_dataset_size > 0 || timed.own_shape.layers.empty();
    if (!sized && !context.findings.any_at(node.origin("workload"))) {
      node.fail_at("epochs", "needs a workload with a data set size",
                   timed.file.empty() ? "steps" : "set 'steps', or 'samples-per-epoch' in the workload file (as XML)");
    }
  } else if (node.has("target") && said.empty()) {
    node.fail_at("target", "needs the length of training", "add steps, epochs, samples or tokens");
  }
}

/// Reads the given sizes of the workload, and refuses sizes that it does not have.
void read_sizes(const Node& node, spec::TimedAsSpec& timed, const ReadContext& context) {
  const bool known = spec::workload_registry().find(timed.workload) != nullptr;
  std::map<std::string, std::vector<std::string>> owners;
  for (const spec::Workload& workload : spec::workload_registry().all()) {
    for (const spec::ParameterSpec& size : workload.parameters) owners[size.name].push_back(workload.name);
  }
  for (auto& [name, workloads] : owners) {
    if (!node.has(name)) continue;
    if (const spec::ParameterSpec* size = size_of(timed.workload, name)) {
      timed.sizes[name] = read_parameter(node, *size, context);
      continue;
    }
    std::ranges::sort(workloads);
    // An unknown workload has been reported already.
    if (context.findings.any_at(node.origin("workload")) && !known) continue;
    constexpr std::size_t kMost = 8;
    const std::size_t shown = std::min(kMost, workloads.size());
    node.fail_at(name, timed.workload.empty() ? "needs a workload" : fmt::format("is unknown to '{}'", timed.workload),
                 fmt::format("{}{} {} it",
                             fmt::join(workloads.begin(), workloads.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                             shown < workloads.size() ? fmt::format(" and {} others", workloads.size() - shown) : "",
                             workloads.size() == 1 ? "has" : "have"));
  }
}

/// Checks precision, attention and input of the timed network.
void check_execution(const Node& node, const spec::TimedAsSpec& timed, std::size_t devices,
                     const ReadContext& context) {
  if (timed.wide_gradients && !spec::has_master_copies(timed.precision))
    node.fail_at("gradients", "has no effect: gradients are already in fp32",
                 "set precision=\"fp16\", \"bf16\" or \"fp8\"");
  if (timed.loss_scaling && timed.precision != spec::Precision::fp16)
    node.fail_at("loss-scaling", "needs fp16",
                 "set precision=\"fp16\", or remove it: other precisions have the range of fp32");
  if (timed.adapters > 0 && timed.workload.empty() && !context.findings.any_at(node.origin("workload")))
    node.fail_at("adapters", "needs a workload", "use a workload whose blocks have matrices");
  if (timed.parallelism.experts > 1 && timed.workload.empty() && !context.findings.any_at(node.origin("workload")))
    node.fail_at("expert-parallel", "needs layers with experts",
                 "set expert-parallel=\"1\", or use a workload with experts");
  for (const auto& [attribute, parts] : {std::pair{"loss-parts", timed.parallelism.loss_parts > 0},
                                         std::pair{"feed-forward-parts", timed.parallelism.feed_forward_parts > 1}}) {
    if (parts && timed.workload.empty() && !context.findings.any_at(node.origin("workload")))
      node.fail_at(attribute, "needs a workload", "set workload=\"…\", or remove it");
  }
  const std::optional<Fault> idle = timed.workload.empty() && !context.findings.any_at(node.origin("workload"))
                                        ? spec::fault_of_recomputation(timed.own_shape, timed.parallelism)
                                        : std::nullopt;
  if (idle && spec::parts_of_blocks(timed.own_shape).bits == 0) {
    node.fail_at("recompute", "needs blocks",
                 timed.file.empty() ? "use a workload of blocks, or recompute=\"none\""
                                    : "name layers block1.… in the file, or set recompute=\"none\"");
  } else if (idle) {
    node.fail_at("recompute", idle->what, idle->remedy);
  }
  const bool flash = !spec::writes_scores(timed.attention);
  if (flash && timed.workload.empty() && !context.findings.any_at(node.origin("workload"))) {
    node.fail_at("attention", "needs a workload",
                 timed.file.empty() ? "use a workload with attention" : "remove it: the file defines its layers");
  } else if (spec::workload_registry().find(timed.workload) != nullptr) {
    if (const std::optional<Fault> fault = spec::fault_of_workload(timed)) {
      node.fail(infeasible(fmt::format("'{}': {}", timed.workload, fault->what),
                           fault->remedy.empty() ? remedy_for_division(timed, devices) : fault->remedy));
    }
  }
}

std::int64_t peek(const Element& element, std::string_view attribute) {
  const Attribute* found = element.find(attribute);
  const std::int64_t value = found == nullptr ? 1 : parse_whole<std::int64_t>(found->value).value_or(1);
  return value >= 1 && value <= kMostDivided ? value : 1;
}

std::vector<Row<spec::TimedAsSpec>> timed_as_rows() {
  using Spec = spec::TimedAsSpec;
  std::vector<Row<Spec>> rows{
      by_code<Spec>(attribute("workload", name_in("workloads")), {},
                    [](const Spec& timed, const PathText&) { return timed.workload; })
          .if_given()
          .if_left_out("the file, or else the network that learns"),
      by_code<Spec>(attribute("file", text()), {},
                    [](const Spec& timed, const PathText& path) {
                      return path && !timed.file.empty() ? path(timed.file) : timed.file;
                    })
          .if_given(),
      attribute("batch", &Spec::batch, integer(1, 1'000'000))
          .without_default()
          .if_left_out("`batch` of `<training>`")
          .of_layout(1),
      attribute("precision", &Spec::precision),
      attribute("steps", &Spec::steps, real({.minimum = 1, .maximum = 1e12}))
          .if_left_out("the published number, if any"),
      attribute("epochs", &Spec::epochs, real(kPositive)),
      count_row("samples", &Spec::samples),
      count_row("tokens", &Spec::tokens),
      attribute("target", &Spec::target, any_text()).if_given(),
      attribute("evaluation-every", &Spec::evaluation_every, integer(1, 1'000'000'000))
          .if_given()
          .if_left_out("not charged"),
      attribute("evaluation-seconds", &Spec::evaluation_seconds, real(kNonNegative))
          .printed_if([](const Spec& timed) { return timed.evaluation_every > 0; })
          .without_default(),
      attribute("start-up", &Spec::start_up, quantity(kStartUp)).printed_if([](const Spec& timed) {
        return timed.of_other_network();
      })};
  for (Row<Spec>& row : parallelism_rows()) rows.push_back(std::move(row));
  for (Row<Spec>& size : size_rows()) rows.push_back(std::move(size));
  std::vector<Row<Spec>> others{
      attribute("adapters", &Spec::adapters, integer(1, 100'000)).if_given().if_left_out("all weights are learned"),
      attribute("adapted", &Spec::adapted)
          .only([](const Spec& timed) { return timed.adapters > 0; }, "needs adapters", "set adapters=\"8\""),
      attribute("attention", &Spec::attention).if_given(),
      attribute("program", &Spec::program).if_given(),
      attribute("operator-time", &Spec::operator_seconds, quantity(kOperator))
          .only([](const Spec& timed) { return begins_kernels(timed.program); },
                "needs a program whose host launches kernels", "set program=\"eager\" or \"compiled\"")
          .if_given()
          .if_left_out("as measured (src/spec/programs.csv)"),
      attribute("input-rate", &Spec::input_rate, real({.minimum = 0, .maximum = 1e12, .open_minimum = true}))
          .if_given()
          .if_left_out("no limit"),
      attribute("gradients", &Spec::wide_gradients, one_of({"precision", "fp32"})).if_given(),
      of_masters(attribute("masters", &Spec::no_masters, one_of({"fp32", "none"}))),
      of_masters(attribute("moments", &Spec::moments)),
      attribute("loss-scaling", &Spec::loss_scaling).if_given()};
  for (Row<Spec>& other : others) rows.push_back(std::move(other));
  return rows;
}

const Row<spec::TimedAsSpec>& row_of(const std::string& name) {
  static const std::vector<Row<spec::TimedAsSpec>> kRows = timed_as_rows();
  return *std::ranges::find(kRows, name, [](const auto& row) { return row.rule.name; });
}

}  // namespace

std::string read_timed_as_attribute(const std::string& option, const std::string& name, const std::string& text,
                                    spec::TimedAsSpec& timed, Findings& findings) {
  const Origin origin{printable(option), 0};
  const Element element{.name = "timed-as", .origin = origin, .attributes = {{name, text, origin}}};
  const Catalog none;
  row_of(name).read(Node(element, findings), {option, none, findings}, timed);
  return row_of(name).text(timed, {});
}

std::string timed_as_attribute(const spec::TimedAsSpec& timed, const std::string& name) {
  const Row<spec::TimedAsSpec>& row = row_of(name);
  return !row.printed || row.printed(timed) ? row.text(timed, {}) : timed_as_table().rule().find(name)->fallback;
}

const std::vector<std::string>& layout_attributes() {
  static const std::vector<std::string> kNames = [] {
    std::map<int, std::string> names;
    for (const AttributeRule& rule : timed_as_table().rule().attributes) names[rule.of_layout] = rule.name;
    names.erase(0);
    const auto in_order = std::views::values(names);
    return std::vector<std::string>(in_order.begin(), in_order.end());
  }();
  return kNames;
}

bool sets_layout(std::string_view assignment) {
  constexpr std::string_view kPath = "timed-as.";
  const std::string_view name = assignment.substr(0, assignment.find('='));
  return name.starts_with(kPath) && std::ranges::count(layout_attributes(), name.substr(kPath.size())) > 0;
}

std::vector<std::string> layout_assignments(spec::TimedAsSpec timed) {
  spec::ParallelismSpec& how = timed.parallelism;
  if (how.pipeline == 1 && how.micro_batch == timed.batch) how.micro_batch = 0;
  std::vector<std::string> set;
  for (const std::string& name : layout_attributes()) {
    const Row<spec::TimedAsSpec>& row = row_of(name);
    if (row.printed && !row.printed(timed)) continue;
    if (const std::string text = row.text(timed, {}); name == "batch" || text != row.text({}, {}))
      set.push_back(fmt::format("timed-as.{}={}", name, text));
  }
  return set;
}

const Table<spec::TimedAsSpec>& timed_as_table() {
  static const Table<spec::TimedAsSpec> kTable(
      "timed-as", "Times the steps as if another network were trained; accuracy still comes from the model.",
      timed_as_rows());
  return kTable;
}

std::int64_t devices_per_worker(const Element* timed_as) {
  return timed_as == nullptr ? 1 : peek(*timed_as, "tensor") * peek(*timed_as, "context") * peek(*timed_as, "pipeline");
}

spec::TimedAsSpec read_timed_as(const Element& element, std::int64_t batch, std::size_t devices,
                                const ReadContext& context, std::shared_ptr<const schedule::Schedule>& recorded) {
  const Node node(element, context.findings);
  spec::TimedAsSpec timed;
  timed.batch = batch;
  const std::vector<std::string> workloads = spec::workload_registry().names();
  if (node.has("workload")) {
    timed.workload = node.required_text("workload", context.findings.suggest("", workloads)).value_or("");
    if (!timed.workload.empty() && std::ranges::find(workloads, timed.workload) == workloads.end()) {
      node.fail_at("workload", "is unknown",
                   context.findings.suggest(spec::NameKind::workload, timed.workload, workloads));
    }
    node.refuse("file", "cannot be combined with workload", "remove one of the two");
  } else if (node.has("file")) {
    read_own_workload(node, timed, context, recorded);
  }
  timed_as_table().read(node, context, timed);
  if (recorded != nullptr) refuse_layers(node);
  check_division(node, timed.parallelism, timed.batch);
  read_sizes(node, timed, context);
  check_execution(node, timed, devices, context);
  if (node.has("workload") || node.has("file")) {
    check_known_steps(node, timed, context);
  } else {
    constexpr const char* kBecause = "needs a workload or a file";
    constexpr const char* kRemedy =
        "set workload=\"…\" or file=\"…\", or remove it: the learning network's steps are learned";
    for (const char* attribute :
         {"steps", "epochs", "samples", "tokens", "target", "evaluation-every", "evaluation-seconds", "start-up"})
      node.refuse(attribute, kBecause, kRemedy);
  }
  if (node.has("evaluation-every") != node.has("evaluation-seconds")) {
    node.fail(
        fmt::format("<timed-as> lacks '{}'", node.has("evaluation-every") ? "evaluation-seconds" : "evaluation-every"),
        "set both 'evaluation-every' and 'evaluation-seconds', or neither");
  }
  return timed;
}

std::vector<ElementRule> timed_as_rules() { return {timed_as_table().rule()}; }

}  // namespace dadsim::scenario
