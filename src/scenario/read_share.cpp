#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenario/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;

}  // namespace

void read_share(const Node& run, const Catalog::Algorithm& algorithm, spec::RunSpec& into, const ReadContext& context) {
  const auto flexible =
      std::ranges::find_if(context.catalog.algorithms, [](const auto& one) { return !one.statistics.empty(); });
  const std::string remedy = flexible == context.catalog.algorithms.end()
                                 ? "remove it"
                                 : fmt::format("remove it, or algorithm=\"{}\"", flexible->name);
  for (const Element* element : run.children("share")) {
    const Node rule(*element, context.findings);
    if (algorithm.statistics.empty()) {
      rule.fail(fmt::format("<share> means nothing to '{}'", algorithm.name),
                remedy + ", whose layers may be shared in different ways");
      continue;
    }
    const std::optional<std::string> layers =
        rule.required_text("layers", "the name of a layer, or a pattern like fc*");
    if (!rule.required_text("statistic", fmt::format("one of {}", fmt::join(algorithm.statistics, ", ")))) continue;
    const std::size_t statistic = rule.choice("statistic", algorithm.statistics, 0);
    const std::int64_t every = rule.integer("every", 1, kMostSteps, 1);
    into.share.push_back({layers.value_or("*"), algorithm.statistics.at(statistic), every});
  }
  if (const Element* element = run.child("average-deltas")) {
    const Node average(*element, context.findings);
    if (algorithm.statistics.empty()) {
      average.fail(fmt::format("<average-deltas> means nothing to '{}'", algorithm.name), remedy);
      return;
    }
    into.average_deltas_above = average.required_text("above", "the name of a layer").value_or("");
  }
}

void check_share(const Node& run, const Catalog::Algorithm& algorithm, const spec::RunSpec& read,
                 const LearningNetwork& network, const ReadContext& context) {
  const std::vector<const Element*> rules = run.children("share");
  const Element* average = run.child("average-deltas");
  // A rule that could not be read, or a network that is not known: what is wrong has been said.
  if (!algorithm.check_share || rules.size() != read.share.size() || network.sample.channels == 0) return;
  if (network.model == nullptr || network.model->layers.empty()) return;
  for (const Catalog::ShareFault& fault : algorithm.check_share(read, *network.model, network.sample)) {
    Origin origin = run.origin();
    std::string where = "<run>: ";
    if (fault.rule >= 0) {
      origin = rules.at(static_cast<std::size_t>(fault.rule))->origin;
      where = "<share>: ";
    } else if (fault.rule == -2) {
      origin = average->origin;
      where = "<average-deltas>: ";
    }
    context.findings.add(origin, where + fault.what, fault.remedy);
  }
  if (average != nullptr && !network.equal_batches) {
    context.findings.add(average->origin, "<average-deltas> takes the rows of all sites in pairs",
                         "<training batches=\"equal\">");
  }
}

}  // namespace dadsim::scenario
