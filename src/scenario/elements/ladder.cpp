#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/xml/files.hpp"

namespace dadsim::scenario {

const Table<Scenario>& ladder_table() {
  using Spec = Scenario;
  static const Table<Spec> kTable = Table<Spec>(
      "ladder",
      "Takes relative steps from a scale study, at the size of the timed workload, for runs with the same label.",
      {by_code<Spec>(attribute("file", text("the file that `dadsim scale-study --json` has written")).must(), {},
                     [](const Spec& scenario, const PathText& path) {
                       return path && !scenario.ladder.empty() ? path(scenario.ladder) : scenario.ladder;
                     })});
  return kTable;
}

std::string read_ladder(const Element& element, const Scenario& scenario, const ReadContext& context) {
  const Node node(element, context.findings);
  const std::optional<std::string> name =
      node.required_text("file", "the file that `dadsim scale-study --json` has written");
  if (!scenario.timed_as || !scenario.timed_as->of_other_network()) {
    node.fail("<ladder> needs a timed workload",
              "add <timed-as workload=\"…\"/>, or remove <ladder>: relative steps of the learning network are learned");
  }
  if (!name) return {};
  std::string path = beside(context.path, *name);
  if (!context.catalog.check_ladder) return path;
  const std::optional<Fault> fault = context.catalog.check_ladder(path);
  if (fault) node.fail_at("file", fault->what, fault->remedy);
  return fault ? std::string() : path;
}

std::vector<ElementRule> ladder_rules() { return {ladder_table().rule()}; }

}  // namespace dadsim::scenario
