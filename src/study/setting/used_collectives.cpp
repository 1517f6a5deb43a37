#include "study/setting/used_collectives.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "collectives/collective.hpp"
#include "models/data/dataset.hpp"
#include "sim/operations.hpp"
#include "sim/platform.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/schedule_memory.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {
namespace {

using Kinds = std::set<step::CollectiveKind>;

/// Of whatever way a layer takes, where it takes one of several: which one is found when the step is timed.
Kinds recorded_kinds(const step::StepStructure& structure) {
  Kinds kinds;
  for (const step::Sweep& sweep : structure.sweeps) {
    for (const step::Group& group : sweep.groups) {
      for (const step::Op& op : group.ops) {
        if (const auto* collective = std::get_if<step::CollectiveOp>(&op.what)) kinds.insert(collective->kind);
      }
    }
  }
  return kinds;
}

Kinds scheduled_kinds(const schedule::Schedule& schedule) {
  Kinds kinds;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective == nullptr || (collective->among == schedule::Among::replicas && schedule.workers < 2)) continue;
    kinds.insert(collective->kind);
  }
  return kinds;
}

/// One step of the run with a sample a site.
step::Trajectory take_step(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  const models::Dataset data = models::load_dataset(scenario.data, scenario.seed);
  const models::Partition partition =
      split_over_sites(scenario.data.split, data.train, data.classes, scenario.workers.size(), scenario.seed);
  const algorithms::LearningProblem problem{data, partition, scenario.model, scenario.training, scenario.seed};
  algorithms::Batch batch;
  for (const std::vector<std::int32_t>& of_site : partition) batch.push_back({of_site.front()});
  algorithms::Learners::Step taken =
      algorithms::make_learners(run, problem, algorithms::planned_run(problem).steps)->train(0, 0, batch);
  step::Trajectory trajectory;
  trajectory.structures.push_back(std::move(taken.structure));
  trajectory.distinct_steps.push_back({0, std::move(taken.sizes)});
  trajectory.steps.push_back(0);
  return trajectory;
}

/// What its steps carry out, and why that cannot be among the devices that divide workers.
struct Carried {
  Kinds kinds;
  std::optional<Fault> fault;
};

Carried carried_out(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::ModelShape& learned) {
  const TimedAs timed = timed_as_of(scenario, learned);
  if (scenario.workers.size() < 2 && !timed.parallelism.divides()) return {};
  const step::Trajectory trajectory = take_step(scenario, run);
  if (!trajectory.structures.front().alternatives.all.empty())
    return {recorded_kinds(trajectory.structures.front()), std::nullopt};
  const schedule::Schedule schedule = schedule_of(run, trajectory, trajectory.distinct_steps.front(), learned, timed);
  Carried carried{scheduled_kinds(schedule), std::nullopt};
  // Otherwise all workers take part, who have been looked at.
  if (!timed.parallelism.divides() && !timed.recorded) return carried;
  std::map<std::string, std::int32_t> node_of;
  for (const sim::PlatformHost& host : sim::platform_hosts(scenario.platform)) node_of[host.name] = host.node;
  std::vector<std::int32_t> nodes;
  for (const spec::Placement& device : scenario.all_devices()) nodes.push_back(node_of.at(device.host));
  carried.fault = sim::fault_of_collectives(schedule, nodes);
  return carried;
}

/// An algorithm that rests on nodes of one size, where some of their sites may be away; nothing: it serves any ranks.
std::optional<Fault> fault_of_absence(step::CollectiveKind kind, const std::string& algorithm) {
  collectives::CollectiveRequest request;
  request.kind = kind;
  request.bytes = {1.0};
  collectives::RankLayout uneven;
  uneven.node_of = {0, 0, 1};
  std::optional<Fault> fault = fault_of(request, algorithm, uneven);
  if (fault) fault->what += ", which those that are there need not be where some are away";
  return fault;
}

}  // namespace

methods::RunFaults faults_of_collectives(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                         const spec::ModelShape& learned) {
  using step::CollectiveKind;
  if (!run.communicates || run.event_driven || run.decentralised || run.exchange != spec::ExchangeMode::peer) return {};
  const std::array<std::pair<CollectiveKind, const std::string*>, 3> named{
      {{CollectiveKind::all_reduce, &run.all_reduce},
       {CollectiveKind::all_gather, &run.all_gather},
       {CollectiveKind::reduce_scatter, &run.reduce_scatter}}};
  if (run.all_reduce == "auto" && run.all_gather == "auto" && run.reduce_scatter == "auto") return {};
  Carried carried = carried_out(scenario, run, learned);
  methods::RunFaults faults;
  const bool some_away = learns_on_cluster(scenario, run);
  for (const auto& [kind, algorithm] : named) {
    if (*algorithm == "auto") continue;
    const std::string name(to_string(kind));
    if (!carried.kinds.contains(kind)) {
      faults.emplace_back(Fault{
          fmt::format("{}=\"{}\" means nothing: its steps carry out no {}", name, *algorithm, name), "leave it out"});
    } else if (some_away) {
      if (std::optional<Fault> fault = fault_of_absence(kind, *algorithm)) faults.emplace_back(*std::move(fault));
    }
  }
  if (faults.empty() && carried.fault) faults.emplace_back(*std::move(carried.fault));
  return faults;
}

}  // namespace dadsim::study
