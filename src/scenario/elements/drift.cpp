#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/elements/read.hpp"
#include "spec/islands.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxDrifts = 100;

Row<spec::DriftSpec> corruption() {
  Row<spec::DriftSpec> row = attribute("corruption", &spec::DriftSpec::corruption);
  row.read = [read = row.read](const Node& node, const ReadContext& context, spec::DriftSpec& drift) {
    drift.corrupts = true;
    read(node, context, drift);
  };
  return std::move(row).printed_if([](const spec::DriftSpec& drift) { return drift.corrupts; }).without_default();
}

Row<spec::DriftSpec> severity() {
  Row<spec::DriftSpec> row = attribute("severity", &spec::DriftSpec::severity, integer(1, spec::kMaxSeverity));
  row.refused = [](const Node&, const spec::DriftSpec& drift) -> std::optional<Fault> {
    if (!drift.corrupts) return Fault{"needs 'corruption'", "add corruption=\"…\", or remove 'severity'"};
    if (drift.corruption == spec::Corruption::none)
      return Fault{"needs a corruption other than none", "choose a corruption, or remove 'severity'"};
    return std::nullopt;
  };
  return std::move(row).printed_if(
      [](const spec::DriftSpec& drift) { return drift.corrupts && drift.corruption != spec::Corruption::none; });
}

const Table<spec::DriftSpec>& drift_table() {
  using Spec = spec::DriftSpec;
  static const Table<Spec> kTable =
      Table<Spec>("drift",
                  "Changes the samples of some sites from a simulated time on: corrupts them, or changes the shares of "
                  "the classes. Needs event-driven runs. A later drift of a site changes only the attributes that it "
                  "sets.",
                  {attribute("sites", &Spec::sites, text()).if_given().by_reader().if_left_out("all"),
                   attribute("at", &Spec::at, quantity(kDurationForm)).must(), corruption().if_left_out("as before"),
                   severity(),
                   attribute("label-alpha", &Spec::label_alpha, real({.minimum = 0.001, .maximum = 1e6}))
                       .if_given()
                       .if_left_out("as before")})
          .repeats();
  return kTable;
}

std::vector<std::int32_t> drifting_workers(const Node& node, const std::vector<spec::Placement>& workers) {
  std::vector<std::int32_t> numbers;
  if (!node.has("sites")) {
    for (std::size_t i = 0; i < workers.size(); ++i) numbers.push_back(static_cast<std::int32_t>(i));
    return numbers;
  }
  const std::string remedy = "use hosts of workers, e.g. gpu-[0-3], or remove 'sites' to let all sites drift";
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
      node.fail_at("sites", fmt::format("holds '{}', which hosts no worker", printable(host)), remedy);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// Returns false if the source has pixels from 0 to 1 by default and the scenario sets another scale; otherwise true.
bool has_pixels_from_0_to_1(const spec::DataSource& source) {
  return std::visit(
      []<class Source>(const Source& one) {
        if constexpr (requires { one.scale; })
          return Source{}.scale != spec::Scale::unit || one.scale == spec::Scale::unit;
        return true;
      },
      source);
}

void check_corruption(const Node& node, const spec::DriftSpec& drift, const DataFindings& data) {
  if (drift.corrupts && drift.corruption != spec::Corruption::none) {
    if (data.shape.vocabulary > 0)
      node.fail_at("corruption", "needs numeric data, but the data are symbols", "use numeric data, or label-alpha");
    else
      check_picture(node, drift.corruption, data);
    if (!has_pixels_from_0_to_1(data.spec.source))
      node.fail_at("corruption", "needs pixels between 0 and 1", "set scale=\"unit\" on the source of data");
  }
  if (node.has("label-alpha") && data.labels_per_sample > 1) {
    node.fail_at("label-alpha",
                 fmt::format("needs samples of one class, but each sample has {} labels", data.labels_per_sample),
                 "use a corruption");
  }
  if (!node.has("label-alpha") && !node.has("corruption"))
    node.fail("<drift> lacks 'corruption' and 'label-alpha'", "add one of the two, or both");
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
      node.fail(not_built(fmt::format("<drift> cannot act on a run of {}, which is learned before it is timed",
                                      learned_first->algorithm),
                          "use event-driven algorithms only, e.g. fedavg, or remove <drift>"));
    }
    for (const spec::RunSpec& run : runs) {
      const auto algorithm = std::ranges::find(context.catalog.algorithms, run.algorithm, &Catalog::Algorithm::name);
      if (!drifts.empty() || !run.event_driven || algorithm->follows_drift) continue;
      node.fail(
          not_built(fmt::format("<drift> cannot act on a run of {}, whose batches are drawn before the run begins",
                                run.algorithm),
                    "use algorithms with local training, e.g. fedavg, local-sgd, diloco, or remove <drift>"));
    }
    const auto in_islands = [&](const spec::RunSpec& run) {
      const auto islands = static_cast<std::size_t>(spec::islands_of(run.parameters));
      return islands > 0 && islands < workers.size();
    };
    if (const auto run = std::ranges::find_if(runs, in_islands); drifts.empty() && run != runs.end()) {
      node.fail(not_built(fmt::format("<drift> cannot act on run '{}', whose islands pool the data of several workers",
                                      printable(run->label)),
                          "set islands=\"0\", or remove <drift>"));
    }
    spec::DriftSpec drift;
    drift.sites = trimmed(node.text("sites", ""));
    drift.workers = drifting_workers(node, workers);
    drift_table().read(node, context, drift);
    check_corruption(node, drift, data);
    drifts.push_back(std::move(drift));
  }
  std::ranges::stable_sort(drifts, {}, &spec::DriftSpec::at);
  return drifts;
}

void write_drifts(XmlWriter& xml, const std::vector<spec::DriftSpec>& drifts) {
  for (const spec::DriftSpec& drift : drifts) drift_table().print(xml, drift, {});
}

std::vector<ElementRule> drift_rules() { return {drift_table().rule()}; }

}  // namespace dadsim::scenario
