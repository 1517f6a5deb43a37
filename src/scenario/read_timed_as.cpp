#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "scenario/files.hpp"
#include "scenario/quantity.hpp"
#include "scenario/read.hpp"
#include "scenario/read_parallelism.hpp"
#include "scenario/read_parameter.hpp"
#include "scenario/read_workload.hpp"

namespace dadsim::scenario {
namespace {

/// Fills in what file="…" names.
void read_own_workload(const Node& node, spec::TimedAsSpec& timed, const ReadContext& context) {
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
  }
  context.findings.take(findings);
}

/// The user's own number of steps to accuracy.
void read_known_steps(const Node& node, spec::TimedAsSpec& timed, const ReadContext& context) {
  constexpr Range kSteps{.minimum = 1, .maximum = 1e12};
  constexpr Range kEpochs{.minimum = 0, .maximum = 1e6, .open_minimum = true};
  if (node.has("steps")) timed.steps = node.real("steps", kSteps);
  if (node.has("epochs")) timed.epochs = node.real("epochs", kEpochs);
  timed.target = node.text("target", "");
  if (node.has("steps")) {
    node.refuse("epochs", "stands beside steps", "one of both");
  } else if (node.has("epochs") && timed.of_other_network()) {
    const bool sized = timed.file.empty() ? context.catalog.dataset_sizes.contains(timed.workload)
                                          : timed.own_dataset_size > 0 || timed.own_shape.layers.empty();
    if (!sized && !context.findings.any_at(node.origin("workload"))) {
      node.fail_at("epochs", "is of a workload that nobody counts in epochs",
                   timed.file.empty() ? "steps" : "steps, or samples-per-epoch in the file (as XML)");
    }
  } else if (node.has("target") && !node.has("epochs")) {
    node.fail_at("target", "says what is reached after nothing", "steps or epochs beside it");
  }
}

/// The sizes of the workload that are said, and that no others are.
void read_sizes(const Node& node, spec::TimedAsSpec& timed, const ReadContext& context) {
  const auto own = context.catalog.workload_sizes.find(timed.workload);
  std::map<std::string, std::vector<std::string>> owners;
  for (const auto& [workload, sizes] : context.catalog.workload_sizes) {
    for (const spec::ParameterSpec& size : sizes) owners[size.name].push_back(workload);
  }
  for (const auto& [name, workloads] : owners) {
    if (!node.has(name)) continue;
    const auto parameter = own == context.catalog.workload_sizes.end()
                               ? std::vector<spec::ParameterSpec>::const_iterator{}
                               : std::ranges::find(own->second, name, &spec::ParameterSpec::name);
    if (own != context.catalog.workload_sizes.end() && parameter != own->second.end()) {
      timed.sizes[name] = read_parameter(node, *parameter, context);
      continue;
    }
    // An unknown workload has its own finding.
    if (context.findings.any_at(node.origin("workload")) && own == context.catalog.workload_sizes.end()) continue;
    constexpr std::size_t kMost = 8;
    const std::size_t shown = std::min(kMost, workloads.size());
    node.fail_at(name,
                 timed.workload.empty() ? "is a size of a workload that is not named"
                                        : fmt::format("is no size of '{}'", timed.workload),
                 fmt::format("{}{} {} it",
                             fmt::join(workloads.begin(), workloads.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                             shown < workloads.size() ? fmt::format(" and {} others", workloads.size() - shown) : "",
                             workloads.size() == 1 ? "has" : "have"));
  }
}

/// How it is computed and fed.
void read_execution(const Node& node, spec::TimedAsSpec& timed, const ReadContext& context) {
  static const std::array<std::string, 2> kAttentions{"plain", "flash"};
  timed.attention = static_cast<spec::Attention>(node.choice("attention", kAttentions, 0));
  timed.input_rate = node.real("input-rate", {.minimum = 0, .maximum = 1e12, .open_minimum = true}, 0);
  timed.wide_gradients = node.choice("gradients", std::array<std::string, 2>{"precision", "fp32"}, 0) == 1;
  if (timed.wide_gradients && !spec::has_master_copies(timed.precision))
    node.fail_at("gradients", "says nothing",
                 "precision=\"fp16\", \"bf16\" or \"fp8\" beside it: others have fp32 anyway");
  timed.loss_scaling = node.boolean("loss-scaling", false);
  if (timed.loss_scaling && timed.precision != spec::Precision::fp16)
    node.fail_at("loss-scaling", "is of fp16", "precision=\"fp16\" beside it: other precisions have the range of fp32");
  const bool flash = timed.attention == spec::Attention::flash;
  if (flash && timed.workload.empty() && !context.findings.any_at(node.origin("workload"))) {
    node.fail_at("attention", "is of a workload that is not named",
                 timed.file.empty() ? "a workload with attention" : "what the file says of its layers");
  } else if (context.catalog.check_workload && context.catalog.workload_sizes.contains(timed.workload)) {
    if (const std::optional<Fault> fault = context.catalog.check_workload(timed)) {
      node.fail(fmt::format("'{}': {}", timed.workload, fault->what),
                fault->remedy.empty() ? "sizes that go together" : fault->remedy);
    }
  }
}

}  // namespace

spec::TimedAsSpec read_timed_as(const Element& element, std::int64_t batch, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::TimedAsSpec timed;
  const std::vector<std::string>& workloads = context.catalog.workloads;
  if (node.has("workload")) {
    timed.workload = node.required_text("workload", context.findings.suggest("", workloads)).value_or("");
    if (!timed.workload.empty() && std::ranges::find(workloads, timed.workload) == workloads.end()) {
      node.fail_at("workload", "is unknown", context.findings.suggest(timed.workload, workloads));
    }
    node.refuse("file", "stands beside workload", "one of both");
  } else if (node.has("file")) {
    read_own_workload(node, timed, context);
  }
  timed.batch = node.integer("batch", 1, 1'000'000, batch);
  timed.parallelism = read_parallelism(node, timed.batch);
  static const std::array<std::string, spec::kPrecisions.size()> kPrecisionNames = [] {
    std::array<std::string, spec::kPrecisions.size()> names;
    std::ranges::transform(spec::kPrecisions, names.begin(),
                           [](spec::Precision precision) { return to_string(precision); });
    return names;
  }();
  timed.precision = spec::kPrecisions.at(node.choice("precision", kPrecisionNames, 0));
  read_sizes(node, timed, context);
  read_execution(node, timed, context);
  if (node.has("workload") || node.has("file")) {
    read_known_steps(node, timed, context);
  } else {
    constexpr const char* kBecause = "is of the network that learns";
    constexpr const char* kRemedy = "a workload or a file beside it: what that network needs is learned";
    for (const char* attribute : {"steps", "epochs", "target", "evaluation-every", "evaluation-seconds", "start-up"})
      node.refuse(attribute, kBecause, kRemedy);
  }
  timed.evaluation_every = node.integer("evaluation-every", 1, 1'000'000'000, 0);
  timed.evaluation_seconds = node.real("evaluation-seconds", {.minimum = 0, .maximum = 1e6}, 0);
  if (node.has("evaluation-every") != node.has("evaluation-seconds")) {
    node.fail(
        fmt::format("<timed-as> lacks '{}'", node.has("evaluation-every") ? "evaluation-seconds" : "evaluation-every"),
        "evaluation-every and evaluation-seconds together, or neither");
  }
  timed.start_up = quantity(
      node, "start-up", {Catalog::Unit::seconds, {.minimum = 0, .maximum = 1e7}, "seconds with their unit, e.g. 90s"},
      0, context.catalog);
  return timed;
}

}  // namespace dadsim::scenario
