#include "study/setting/problem_of_run.hpp"

namespace dadsim::study {

models::Partition data_of_islands(const models::Partition& workers, std::size_t islands) {
  models::Partition merged(islands);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    std::vector<std::int32_t>& into = merged[i * islands / workers.size()];
    into.insert(into.end(), workers[i].begin(), workers[i].end());
  }
  return merged;
}

ProblemOfRun::ProblemOfRun(const scenario::Scenario& scenario, const spec::RunSpec& run, const models::Dataset& data,
                           const models::Partition& workers, const spec::TrainingSpec& training, std::uint64_t seed,
                           const models::DriftedData* drift)
    : merged_(scenario::replicas_of_participant(scenario, run) > 1
                  ? data_of_islands(workers, scenario::participants_of(scenario, run))
                  : models::Partition{}),
      asked_{data, merged_.empty() ? workers : merged_, scenario.model, training, seed, drift} {
  if (!merged_.empty())
    asked_.training.batch *= static_cast<std::int64_t>(scenario::replicas_of_participant(scenario, run));
}

}  // namespace dadsim::study
