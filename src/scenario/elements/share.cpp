#include <fmt/format.h>

#include <algorithm>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

const Table<spec::ShareRule>& share_table() {
  using Spec = spec::ShareRule;
  static const Table<Spec> kTable =
      Table<Spec>("share",
                  "The method for some layers, in algorithms whose layers may differ. The first matching rule of a "
                  "layer applies.",
                  {attribute("layers", &Spec::layers, text("the name of a layer, or a pattern like fc*")).must(),
                   attribute("statistic", &Spec::statistic, text("a quantity that sites send, e.g. gradient")).must(),
                   attribute("every", &Spec::every, integer(1, 1'000'000))},
                  {.layers = "*", .statistic = "gradient"})
          .repeats();
  return kTable;
}

}  // namespace

void read_share(const Node& run, const Catalog::Algorithm& algorithm, spec::RunSpec& into, const ReadContext& context) {
  const auto flexible =
      std::ranges::find_if(context.catalog.algorithms, [](const auto& one) { return !one.statistics.empty(); });
  const std::string remedy = flexible == context.catalog.algorithms.end()
                                 ? "remove it"
                                 : fmt::format("remove it, or set algorithm=\"{}\"", flexible->name);
  std::vector<std::string> names;
  for (const methods::LayerStatistic& one : algorithm.statistics) names.push_back(one.name);
  for (const Element* element : run.children("share")) {
    const Node rule(*element, context.findings);
    if (algorithm.statistics.empty()) {
      rule.fail(fmt::format("<share> has no effect with '{}'", algorithm.name),
                remedy + ", whose layers may be shared in different ways");
      continue;
    }
    spec::ShareRule read = share_table().read(rule, context);
    if (!rule.has("statistic")) continue;
    rule.choice("statistic", names, 0);
    into.share.push_back(std::move(read));
  }
  if (const Element* element = run.child("average-deltas")) {
    const Node average(*element, context.findings);
    if (algorithm.statistics.empty()) {
      average.fail(fmt::format("<average-deltas> has no effect with '{}'", algorithm.name), remedy);
      return;
    }
    into.average_deltas_above = average.required_text("above", "the name of a layer").value_or("");
  }
}

void check_run(const Node& run, const Catalog::Algorithm& algorithm, const spec::RunSpec& read, std::size_t workers,
               const LearningNetwork& network, const ReadContext& context) {
  const std::vector<const Element*> rules = run.children("share");
  const Element* average = run.child("average-deltas");
  methods::RunFacts facts{read, workers};
  // An unreadable rule or an unknown network has been reported already.
  const bool is_known = rules.size() == read.share.size() && network.sample.channels != 0 && network.model != nullptr;
  if (is_known && !network.model->layers.empty()) {
    facts.model = network.model;
    facts.sample = network.sample;
  }
  try {
    for (methods::RunFault& fault : faults_of(algorithm, facts)) {
      if (fault.rule >= 0) {
        context.findings.add(rules.at(static_cast<std::size_t>(fault.rule))->origin, "<share>: " + fault.what,
                             fault.remedy);
      } else if (fault.rule == methods::RunFault::kAverageOfDeltas) {
        context.findings.add(average->origin, "<average-deltas>: " + fault.what, fault.remedy);
      } else {
        run.fail(std::move(fault));
      }
    }
  } catch (const InputError& faults) {
    for (const Diagnostic& fault : faults.diagnostics()) context.findings.add(fault);
  }
  if (average != nullptr && facts.model != nullptr && !network.equal_batches) {
    context.findings.add(average->origin, "<average-deltas> needs equal batches, since it pairs the rows of all sites",
                         "set <training batches=\"equal\">");
  }
}

void write_share(XmlWriter& xml, const spec::RunSpec& run) {
  for (const spec::ShareRule& rule : run.share) share_table().print(xml, rule, {});
  if (!run.average_deltas_above.empty()) XmlWriter::Open(xml, "average-deltas").set("above", run.average_deltas_above);
}

std::vector<ElementRule> share_rules() {
  return {share_table().rule(),
          element("average-deltas",
                  "Replaces the deltas of a layer in the backward pass by their mean over sites, row by row. Each site "
                  "computes this layer and lower layers from the mean, with its own weights.",
                  {attribute("above", text("the name of a layer")).must()})};
}

}  // namespace dadsim::scenario
