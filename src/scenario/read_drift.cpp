#include <fmt/format.h>

#include <algorithm>

#include "scenario/host_list.hpp"
#include "scenario/quantity.hpp"
#include "scenario/read.hpp"
#include "scenario/white_space.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxDrifts = 100;

std::vector<std::int32_t> drifting_workers(const Node& node, const std::vector<spec::Placement>& workers) {
  std::vector<std::int32_t> numbers;
  if (!node.has("sites")) {
    for (std::size_t i = 0; i < workers.size(); ++i) numbers.push_back(static_cast<std::int32_t>(i));
    return numbers;
  }
  const std::string remedy = "hosts of workers, e.g. gpu-[0-3]; without it, all drift";
  const std::optional<std::string> text = node.required_text("sites", remedy);
  if (!text) return numbers;
  const HostList list = expand_hosts(*text, kMaxWorkers, [&] {
    std::vector<std::string> hosts;
    for (const spec::Placement& worker : workers) hosts.push_back(worker.host);
    return hosts;
  });
  if (!list.what.empty()) node.fail_at("sites", list.what, list.remedy);
  for (const std::string& host : list.hosts) {
    bool found = false;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (workers[i].host != host) continue;
      numbers.push_back(static_cast<std::int32_t>(i));
      found = true;
    }
    if (!found && !workers.empty()) {
      node.fail_at("sites", fmt::format("holds '{}', on which no worker stands", printable(host)), remedy);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void read_corruption(const Node& node, const DataFindings& data, spec::DriftSpec& drift) {
  drift.corruption = node.named("corruption", spec::Corruption::none);
  drift.corrupts = true;
  if (drift.corruption == spec::Corruption::none) {
    node.refuse("severity", "means nothing without a corruption", "only a corruption has it");
    return;
  }
  drift.severity = node.integer("severity", 1, spec::kMaxSeverity, drift.severity);
  if (data.shape.vocabulary > 0) {
    node.fail_at("corruption", "is of data that are symbols", "data that are numbers, or label-alpha");
  } else if (needs_picture(drift.corruption) && data.shape.size() > 0 &&
             (data.shape.height < 2 || data.shape.width < 2)) {
    node.fail_at("corruption", "is of samples that are no pictures", "noise, gain-offset, clip, gamma or exponential");
  }
}

}  // namespace

std::vector<spec::DriftSpec> read_drifts(const Element& data_element, const std::vector<spec::Placement>& workers,
                                         const DataFindings& data, const std::vector<spec::RunSpec>& runs,
                                         const ReadContext& context) {
  std::vector<spec::DriftSpec> drifts;
  for (const Element& child : data_element.children) {
    if (child.name != "drift") continue;
    const Node node(child, context.findings);
    if (drifts.size() == kMaxDrifts) {
      node.fail(fmt::format("more than {} <drift>", kMaxDrifts), "fewer");
      break;
    }
    const auto learned_first = std::ranges::find_if(runs, [](const spec::RunSpec& run) { return !run.event_driven; });
    if (drifts.empty() && learned_first != runs.end()) {
      node.fail(
          fmt::format("<drift> beside a run of {}, which learns without regard to time", learned_first->algorithm),
          "event-driven algorithms alone, e.g. fedavg, or no <drift>");
    }
    for (const spec::RunSpec& run : runs) {
      const auto algorithm = std::ranges::find(context.catalog.algorithms, run.algorithm, &Catalog::Algorithm::name);
      if (!drifts.empty() || !run.event_driven || algorithm->follows_drift) continue;
      node.fail(fmt::format("<drift> beside a run of {}, whose batches are drawn before it begins", run.algorithm),
                "algorithms with local training, e.g. fedavg, local-sgd, diloco, or no <drift>");
    }
    spec::DriftSpec drift;
    drift.sites = trimmed(node.text("sites", ""));
    drift.workers = drifting_workers(node, workers);
    drift.at = required_quantity(node, "at", kDurationForm, context.catalog).value_or(0);
    if (node.has("corruption")) {
      read_corruption(node, data, drift);
    } else {
      node.refuse("severity", "means nothing without 'corruption'", "both, or neither");
    }
    if (node.has("label-alpha")) {
      drift.label_alpha = node.real("label-alpha", {.minimum = 1e-3, .maximum = 1e6}, 1);
      if (data.labels_per_sample > 1) {
        node.fail_at("label-alpha",
                     fmt::format("needs samples of one class; these have {} labels each", data.labels_per_sample),
                     "a corruption");
      }
    } else if (!node.has("corruption")) {
      node.fail("<drift> lacks 'corruption' and 'label-alpha'", "one of the two, or both");
    }
    drifts.push_back(std::move(drift));
  }
  std::ranges::stable_sort(drifts, {}, &spec::DriftSpec::at);
  return drifts;
}

}  // namespace dadsim::scenario
