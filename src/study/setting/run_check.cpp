#include "study/setting/run_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "algorithms/learn.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "methods/method.hpp"
#include "models/data/dataset.hpp"
#include "protocols/registry.hpp"
#include "sim/operations.hpp"
#include "sim/platform.hpp"
#include "spec/layer_shape.hpp"
#include "spec/model_shape.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/problem_of_run.hpp"
#include "study/setting/schedule_memory.hpp"
#include "study/setting/timed_as.hpp"
#include "support/human.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::study {
namespace {

using Kinds = std::set<step::CollectiveKind>;

/// Returns the kinds of collectives of all alternatives, because only timing decides which alternative a layer takes.
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

/// Returns the trajectory of one step of the run, with one sample per site.
step::Trajectory take_step(const scenario::Scenario& scenario, const spec::RunSpec& run) {
  const models::Dataset data = models::load_dataset(scenario.data, scenario.seed);
  const models::Partition partition =
      split_over_sites(scenario.data.split, data.train, data.classes, scenario.workers.size(), scenario.seed);
  const ProblemOfRun own(scenario, run, data, partition, scenario.training, scenario.seed);
  const algorithms::LearningProblem& problem = own.asked();
  algorithms::Batch batch;
  for (const std::vector<std::int32_t>& of_site : problem.partition) batch.push_back({of_site.front()});
  algorithms::Learners::LearnerStep taken =
      algorithms::make_learners(run, problem, algorithms::planned_run(problem).steps)->train(0, 0, batch);
  step::Trajectory trajectory;
  trajectory.structures.push_back(std::move(taken.structure));
  trajectory.distinct_steps.push_back({0, std::move(taken.sizes)});
  trajectory.steps.push_back(0);
  return trajectory;
}

/// Kinds of collectives in a run's steps; a fault if devices that divide workers cannot carry them out.
struct Carried {
  Kinds kinds;
  std::optional<Fault> fault;
};

Carried carried_out(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::ModelShape& learned) {
  const bool islands = has_islands(scenario, run);
  TimedAs timed = timed_as_of(scenario, learned);
  if (islands) timed = whole_network(scenario, timed, learned);
  if (scenario::participants_of(scenario, run) < 2 && !timed.parallelism.divides()) return {};
  const step::Trajectory trajectory = take_step(scenario, run);
  if (!trajectory.structures.front().alternatives.all.empty())
    return {recorded_kinds(trajectory.structures.front()), std::nullopt};
  const schedule::Schedule schedule = schedule_of(run, trajectory, trajectory.distinct_steps.front(), learned, timed);
  Carried carried{scheduled_kinds(schedule), std::nullopt};
  // Without divided workers, all workers take part; their number was checked before.
  if (!timed.parallelism.divides() && !timed.recorded && !islands) return carried;
  std::vector<std::string> hosts;
  const std::size_t each = islands ? scenario::devices_of_participant(scenario, run) : 1;
  for (std::size_t first = 0; first < scenario.all_devices().size(); first += each)
    hosts.push_back(scenario.all_devices()[first].host);
  carried.fault = sim::fault_of_collectives(schedule, sim::ranks_on(scenario.platform, hosts).value());
  return carried;
}

/// Returns the fault of a collective algorithm that requires nodes of equal size, in a run whose sites may be absent.
/// None if the algorithm works for any ranks.
std::optional<Fault> fault_of_absence(step::CollectiveKind kind, const std::string& algorithm) {
  collectives::CollectiveRequest request;
  request.kind = kind;
  request.bytes = {1.0};
  collectives::RankLayout uneven;
  uneven.node_of = {0, 0, 1};
  std::optional<Fault> fault = fault_of(request, algorithm, uneven);
  if (fault) fault->what += ", which may fail while sites are absent";
  return fault;
}

/// Returns faults of the collective algorithms that a run names: of those that none of its steps uses, and of those
/// that fail if sites are absent. One step with one sample per site, on the scenario's network, shows the kinds in use.
/// Computes nothing if the run names no algorithm. `learned`: the shape of that network.
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
      faults.emplace_back(Fault{fmt::format("{}=\"{}\" needs steps with {}", name, *algorithm, name), "remove it"});
    } else if (some_away) {
      if (std::optional<Fault> fault = fault_of_absence(kind, *algorithm)) faults.emplace_back(*std::move(fault));
    }
  }
  if (faults.empty() && carried.fault) faults.emplace_back(*std::move(carried.fault));
  return faults;
}

using Faults = std::vector<std::pair<std::size_t, Fault>>;

/// Adds faults that methods report for the planned batches and steps, with every seed.
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
    for (std::size_t r = 0; r < scenario.runs.size(); ++r) {
      const spec::RunSpec& run = scenario.runs[r];
      if (wrong[r] || !asks(run)) continue;
      methods::RunFacts facts{run, scenario::participants_of(scenario, run)};
      facts.sample = sample;
      facts.seed = seed;
      facts.planned =
          algorithms::planned_run(ProblemOfRun(scenario, run, data, partition, scenario.training, seed).asked());
      for (methods::RunFault& fault : faults_of(*protocols::find_method(run.algorithm), facts)) {
        faults.emplace_back(r, std::move(fault));
        wrong[r] = true;
      }
    }
  }
}

/// Returns the number of clients that work on a model at the same time, as far as the run's parameters determine it.
double clients_at_work(const spec::RunSpec& run, double sites) {
  const auto value = [&](const char* name) -> std::optional<double> {
    const auto found = run.parameters.find(name);
    if (found == run.parameters.end()) return std::nullopt;
    return parse_whole<double>(found->second);
  };
  double clients = sites;
  if (const auto fraction = value("fraction")) clients = std::max(1.0, std::round(*fraction * sites));
  if (const auto over = value("over-selection")) clients = std::ceil(clients * *over - 1e-9);
  if (const auto concurrency = value("concurrency"); concurrency && *concurrency > 0) clients = *concurrency;
  return std::min(clients, sites);
}

/// Adds faults of the framework: `sends` without effect, messages too large to send, and models too large for the
/// memory of its server.
void add_faults_of_framework(const scenario::Scenario& scenario, const spec::ModelShape& learned, Faults& faults) {
  const spec::FrameworkSpec& framework = scenario.framework;
  const bool refuses = framework.longest_message > 0;
  const bool asks = framework.sends != spec::framework_of_table(framework.name, framework.version).sends;
  if (!refuses && !asks && framework.server_models == 0) return;
  const TimedAs timed = timed_as_of(scenario, learned);
  const double model =
      bytes_per_element(timed.precision) * (static_cast<double>(timed.shape.parameters()) + timed.saved_numbers);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const spec::RunSpec& run = scenario.runs[i];
    if (!run.event_driven) continue;
    if (asks && framework.sends != spec::FrameworkSpec::Sends::parameters && timed.saved_numbers == 0) {
      faults.emplace_back(
          i, Fault{fmt::format("<framework sends=\"{}\"> has no effect: {}", to_string(framework.sends),
                               scenario.payload.bytes > 0
                                   ? "a payload sets the bytes"
                                   : "the network has no tied layers, running statistics or state of an optimizer"),
                   "<framework> without sends"});
    }
    if (refuses && model > framework.longest_message) {
      faults.emplace_back(
          i, Fault{fmt::format("sends a model of {} in one message, but {} sends at most {}", human_bytes(model),
                               framework.in_words(), human_bytes(framework.longest_message)),
                   "use a framework, or a version, that sends a model in pieces"});
    }
    if (framework.server_models == 0 || !scenario.aggregator || scenario.ignore_memory) continue;
    const spec::DeviceSpec& server = find_device(scenario.devices, scenario.aggregator->device);
    const double models = clients_at_work(run, static_cast<double>(scenario::participants_of(scenario, run))) +
                          static_cast<double>(framework.server_models);
    if (!(server.memory_bytes > 0) || models * model <= server.memory_bytes) continue;
    faults.emplace_back(
        i, Fault{fmt::format("the server of {} holds {:.0f} models of {}, but '{}' has {}", framework.in_words(),
                             models, human_bytes(model), server.name, human_bytes(server.memory_bytes)),
                 "use fewer clients at a time, a server with more memory, or <workers memory=\"ignore\">"});
  }
}

/// Adds faults of runs with a recorded step. The step defines all messages, so such runs must exchange gradients among
/// peers; they may differ only in their collective algorithms.
void add_faults_of_recorded(const std::vector<spec::RunSpec>& runs, Faults& faults) {
  const std::string& plain = algorithms::baseline().name;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const spec::RunSpec& run = runs[i];
    if (run.algorithm != plain) {
      faults.emplace_back(
          i, Fault{fmt::format("a recorded step defines its messages, but '{}' sends other messages", run.algorithm),
                   fmt::format("use algorithm=\"{}\"", plain)});
    } else if (run.exchange != spec::ExchangeMode::peer) {
      faults.emplace_back(i, Fault{"a recorded step needs an exchange among peers", "use exchange=\"peer\""});
    }
  }
}

}  // namespace

Faults faults_where_nothing_is_learned(const scenario::Scenario& scenario) {
  Faults faults;
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const spec::RunSpec& run = scenario.runs[i];
    if (run.event_driven) {
      const methods::MethodInfo* info = protocols::find_method(run.algorithm);
      if (info != nullptr && info->decides_by != nullptr) {
        faults.emplace_back(
            i, Fault{fmt::format("'{}' needs {}, which a dry run does not have", info->name, info->decides_by),
                     "use another algorithm, or a scenario that learns"});
      }
      if (scenario.training.stop != spec::TrainingSpec::Stop::target) continue;
      faults.emplace_back(i, Fault{"<training stop=\"target\"> needs accuracies, which a dry run does not have",
                                   "use stop=\"budget\", or a number of rounds"});
    } else if (compress::compressors().at(run.compress.method).adapts) {
      faults.emplace_back(i, Fault{fmt::format("the share that {} keeps depends on learned numbers, which a dry run "
                                               "does not have",
                                               run.compress.method),
                                   "use a compressor with a fixed share, e.g. top-k, or a scenario that learns"});
    }
  }
  return faults;
}

Faults faults_of_runs(const scenario::Scenario& scenario, const spec::SampleShape& sample) {
  Faults faults;
  if (scenario.timing_only) faults = faults_where_nothing_is_learned(scenario);
  if (scenario.recorded) add_faults_of_recorded(scenario.runs, faults);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    if (spec::sends_to(scenario.runs[i].parameters, "region")) {
      std::vector<std::size_t> regions = regions_of(scenario, scenario.runs[i]);
      regions.resize(std::min(regions.size(), scenario::participants_of(scenario, scenario.runs[i])));
      if (regions.empty())
        faults.emplace_back(i, Fault{"to=\"region\" needs a platform with regions: <wan>, or clusters joined by <pair>",
                                     "set to=\"peers\""});
      else if (std::ranges::all_of(regions, [&](std::size_t one) { return one == regions.front(); }))
        faults.emplace_back(
            i, Fault{"to=\"region\" needs workers in several regions, but all are in one", "set to=\"peers\""});
    }
    if (scenario.runs[i].event_driven || !has_islands(scenario, scenario.runs[i])) continue;
    if (may_be_absent(scenario, scenario.runs[i]))
      faults.emplace_back(i, not_built("takes its steps among groups of devices, which cannot be absent",
                                       "set failures=\"none\" and availability=\"none\", or use <timed-as> and the run "
                                       "without groups of devices"));
  }
  if (!scenario.ignore_memory) {
    const std::vector<RunMemory> memory =
        memory_of_runs(scenario, timed_as_of(scenario, spec::model_shape(scenario.model, sample)));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (std::optional<Fault> fault = fault_of_memory(scenario.timed_as, memory[i]))
        faults.emplace_back(i, *std::move(fault));
    }
  }
  add_faults_of_framework(scenario, spec::model_shape(scenario.model, sample), faults);
  add_faults_of_plans(scenario, sample, faults);
  if (!faults.empty()) return faults;  // a step can only be taken without faults
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    for (methods::RunFault& fault :
         faults_of_collectives(scenario, scenario.runs[i], spec::model_shape(scenario.model, sample))) {
      faults.emplace_back(i, std::move(fault));
    }
  }
  return faults;
}

}  // namespace dadsim::study
