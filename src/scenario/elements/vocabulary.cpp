#include <algorithm>
#include <set>

#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

const std::vector<ElementRule>& vocabulary() {
  static const std::vector<ElementRule> kRules = [] {
    std::vector<ElementRule> rules;
    for (auto* part :
         {scenario_rules, platform_rules,      gpu_cluster_rules, fabrics_rules,   federation_rules,  wan_rules,
          pairs_rules,    variation_rules,     network_rules,     framework_rules, failures_rules,    devices_rules,
          data_rules,     drift_rules,         split_rules,       model_rules,     training_rules,    timed_as_rules,
          workload_rules, recorded_step_rules, runs_rules,        share_rules,     compress_rules,    evaluation_rules,
          costs_rules,    goal_rules,          sweep_rules,       axes_rules,      scale_study_rules, ladder_rules}) {
      for (ElementRule& rule : part()) rules.push_back(std::move(rule));
    }
    std::set<std::string> inside;
    for (const ElementRule& rule : rules) inside.insert(rule.children.begin(), rule.children.end());
    for (ElementRule& rule : rules) rule.root = !inside.contains(rule.name);
    return rules;
  }();
  return kRules;
}

const ElementRule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(vocabulary(), name, &ElementRule::name);
  return found == vocabulary().end() ? nullptr : &*found;
}

}  // namespace dadsim::scenario
