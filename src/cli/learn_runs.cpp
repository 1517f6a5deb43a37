#include "cli/learn_runs.hpp"

#include "algorithms/learn.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "models/data/site_shift.hpp"
#include "support/parallel.hpp"

namespace dadsim {

SiteData load_site_data(const Scenario& scenario, std::uint64_t seed) {
  SiteData sites;
  sites.data = load_dataset(scenario.data, seed);
  sites.partition =
      split_over_sites(scenario.data.split, sites.data.train, sites.data.classes, scenario.workers.size(), seed);
  apply_site_shift(sites.data, sites.partition, scenario.data.shift, seed);
  return sites;
}

std::vector<Trajectory> learn_runs(const std::vector<RunSpec>& runs, const Scenario& scenario, const SiteData& sites,
                                   std::uint64_t seed, const TrainingSpec& training, bool show_progress) {
  const LearningProblem problem{sites.data, sites.partition, scenario.model, training, seed};
  std::vector<Trajectory> trajectories(runs.size());
  Progress progress("learning", runs.size(), show_progress);
  parallel_for(runs.size(), [&](std::size_t i) {
    LearningObserver observer;
    observer.progress = [&progress, i](std::int64_t done, std::int64_t total) { progress.update(i, done, total); };
    observer.cancelled = &interrupted();
    trajectories[i] = learn(runs[i], problem, observer);
  });
  return trajectories;
}

}  // namespace dadsim
