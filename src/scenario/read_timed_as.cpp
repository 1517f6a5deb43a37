#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "scenario/files.hpp"
#include "scenario/quantity.hpp"
#include "scenario/read.hpp"
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
  static const std::array<std::string, spec::kPrecisions.size()> kPrecisionNames = [] {
    std::array<std::string, spec::kPrecisions.size()> names;
    std::ranges::transform(spec::kPrecisions, names.begin(),
                           [](spec::Precision precision) { return to_string(precision); });
    return names;
  }();
  timed.precision = spec::kPrecisions.at(node.choice("precision", kPrecisionNames, 0));
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
