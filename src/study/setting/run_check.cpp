#include "study/setting/run_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "algorithms/learn.hpp"
#include "compress/registry.hpp"
#include "models/data/dataset.hpp"
#include "protocols/registry.hpp"
#include "spec/model_shape.hpp"
#include "study/setting/memory_check.hpp"

namespace dadsim::study {
namespace {

using Faults = std::vector<std::pair<std::size_t, Fault>>;

/// What methods have against the batches and steps that are planned, with every seed.
void add_faults_of_plans(const scenario::Scenario& scenario, const spec::SampleShape& sample, Faults& faults) {
  const auto asks = [](const spec::RunSpec& run) {
    const methods::MethodInfo* info = protocols::find_method(run.algorithm);
    return info != nullptr && info->asks_for_plan(run.parameters);
  };
  if (scenario.stand_in || std::ranges::none_of(scenario.runs, asks)) return;
  std::vector<bool> wrong(scenario.runs.size());
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, scenario.training.seeds); ++i) {
    const std::uint64_t seed = scenario.seed + static_cast<std::uint64_t>(i);
    const models::Dataset data = models::load_dataset(scenario.data, seed);
    const models::Partition partition =
        split_over_sites(scenario.data.split, data.train, data.classes, scenario.workers.size(), seed);
    const methods::RunContext planned =
        algorithms::planned_run({data, partition, scenario.model, scenario.training, seed});
    for (std::size_t r = 0; r < scenario.runs.size(); ++r) {
      const spec::RunSpec& run = scenario.runs[r];
      if (wrong[r] || !asks(run)) continue;
      methods::RunFacts facts{run, scenario.workers.size()};
      facts.sample = sample;
      facts.seed = seed;
      facts.planned = planned;
      for (methods::RunFault& fault : faults_of(*protocols::find_method(run.algorithm), facts)) {
        faults.emplace_back(r, std::move(fault));
        wrong[r] = true;
      }
    }
  }
}

}  // namespace

Faults faults_where_nothing_is_learned(const scenario::Scenario& scenario) {
  Faults faults;
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const spec::RunSpec& run = scenario.runs[i];
    if (run.event_driven) {
      if (scenario.training.stop != spec::TrainingSpec::Stop::target) continue;
      faults.emplace_back(i, Fault{"<training stop=\"target\"> asks for accuracies, and nothing is learned",
                                   "stop=\"budget\", or a number of rounds"});
    } else if (compress::compressors().at(run.compress.method).adapts) {
      faults.emplace_back(i,
                          Fault{fmt::format("how much {} keeps is decided by the numbers it is given, and nothing is "
                                            "learned",
                                            run.compress.method),
                                "a compressor that keeps as much as its parameters say, or a scenario that learns"});
    }
  }
  return faults;
}

Faults faults_of_runs(const scenario::Scenario& scenario, const spec::SampleShape& sample) {
  Faults faults;
  if (scenario.timing_only) faults = faults_where_nothing_is_learned(scenario);
  if (!scenario.ignore_memory) {
    const std::vector<RunMemory> memory = memory_of_runs(scenario, spec::model_shape(scenario.model, sample));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (std::optional<Fault> fault = fault_of_memory(scenario, memory[i])) faults.emplace_back(i, *std::move(fault));
    }
  }
  add_faults_of_plans(scenario, sample, faults);
  return faults;
}

}  // namespace dadsim::study
