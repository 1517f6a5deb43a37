#include "study/explain/compare.hpp"

#include <utility>

#include "scenario/document/differences.hpp"
#include "study/run/experiment.hpp"
#include "study/trials/rate_as_tcp.hpp"

namespace dadsim::study {

report::Comparison compare_scenarios(const scenario::Scenario& before, const scenario::Scenario& after,
                                     std::string name, bool show_progress) {
  LearningStore store;
  const auto time = [&](const scenario::Scenario& scenario) {
    report::Result result = run_experiment(scenario, show_progress, &store);
    result.rate_as_tcp = rate_as_tcp(scenario);
    return result;
  };
  report::Comparison comparison;
  comparison.name = std::move(name);
  comparison.before = time(before);
  comparison.after = time(after);
  for (scenario::ScenarioDifference& one : scenario::differences(before, after))
    comparison.differences.push_back({std::move(one.path), std::move(one.before), std::move(one.after)});
  return comparison;
}

}  // namespace dadsim::study
