#include "study/event_driven/islands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <variant>

#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "models/network.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "study/setting/schedule_memory.hpp"
#include "support/interrupt.hpp"

namespace dadsim::study {
namespace {

/// Largest number of pairs of devices in an island whose routes are compared; islands with more pairs are timed
/// individually.
constexpr std::size_t kMostPairs = 10'000;

/// Returns the synchronous run that times an island's steps: gradient sharing among its replicas, with defaults.
spec::RunSpec inner_run(const scenario::Scenario& scenario, std::size_t replicas) {
  spec::RunSpec run = methods::run_of(algorithms::baseline());
  run.exchange = spec::ExchangeMode::peer;
  run.bucket_bytes = spec::kBucketBytes;
  if (scenario.timed_as) scenario::take_default_buckets(*scenario.timed_as, replicas, run);
  return run;
}

/// Returns the timed workload for one island of `replicas` replicas.
TimedAs timed_alone(scenario::Scenario scenario, const TimedAs& timed, const spec::ModelShape& learned,
                    std::size_t replicas) {
  scenario.workers.resize(std::min(replicas, scenario.workers.size()));
  return timed_as_of(scenario, learned, timed.rows / timed.sample_scale);
}

/// Records a step of gradient sharing with one sample per replica.
step::Trajectory record_step(const spec::RunSpec& run, const algorithms::LearningProblem& problem,
                             std::size_t replicas) {
  const std::vector<std::int32_t> one{problem.partition.at(0).at(0)};
  const models::Partition partition(replicas, one);
  const algorithms::LearningProblem alone{problem.data, partition, problem.model, problem.training, problem.seed};
  algorithms::Learners::LearnerStep taken =
      algorithms::make_learners(run, alone, 1)->train(0, 0, algorithms::Batch(replicas, one));
  step::Trajectory trajectory;
  trajectory.structures.push_back(std::move(taken.structure));
  trajectory.distinct_steps.push_back({0, std::move(taken.sizes)});
  trajectory.steps.push_back(0);
  return trajectory;
}

/// A route with links and hosts numbered in order of first mention, so that equal shapes compare equal.
using RouteShape = std::vector<std::tuple<std::size_t, std::size_t, std::size_t, double, double, double, std::string>>;

RouteShape route_shape_of(const sim::Cluster& island, const std::vector<sim::RouteLink>& routes) {
  std::map<std::string, std::size_t> link_numbers, host_numbers;
  for (const std::string& host : island.hosts) host_numbers.try_emplace(host, host_numbers.size());
  RouteShape shape;
  for (const sim::RouteLink& link : routes) {
    const std::size_t number = link_numbers.try_emplace(link.link, link_numbers.size()).first->second;
    shape.emplace_back(host_numbers.at(link.from), host_numbers.at(link.to), number, link.bandwidth, link.latency,
                       link.queue, link.transport);
  }
  return shape;
}

/// Returns the links of the routes inside each island. All islands have the same platform and the same changes.
std::vector<std::vector<sim::RouteLink>> routes_of(const std::vector<sim::Cluster>& islands, bool changed) {
  spec::PlatformSpec platform = islands.front().platform;
  const std::vector<spec::LinkChange>& changes = islands.front().changes;
  if (changed) platform.changes.insert(platform.changes.end(), changes.begin(), changes.end());
  std::vector<std::vector<std::string>> hosts;
  for (const sim::Cluster& island : islands) hosts.push_back(island.hosts);
  return sim::routes_inside(platform, hosts);
}

bool are_like(const sim::Cluster& a, const sim::Cluster& b) {
  return std::ranges::equal(a.devices, b.devices, [](const spec::DeviceSpec& x, const spec::DeviceSpec& y) {
    return x.name == y.name && x.slowdown == y.slowdown;
  });
}

/// Returns whether the routes inside islands are looked up.
bool are_compared(const std::vector<sim::Cluster>& islands) {
  const std::size_t devices = islands.front().hosts.size();
  return islands.size() > 1 && devices * devices <= kMostPairs && !sim::every_step_differs(islands.front());
}

/// Returns, per island, the first island with the same devices and the same routes between them.
std::vector<std::size_t> likeness_of(const std::vector<sim::Cluster>& islands) {
  std::vector<std::size_t> like(islands.size());
  std::iota(like.begin(), like.end(), 0);
  if (!are_compared(islands)) return like;
  std::vector<std::vector<sim::RouteLink>> routes(islands.size());
  if (islands.front().hosts.size() > 1) routes = routes_of(islands, true);
  std::vector<RouteShape> shapes;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    shapes.push_back(route_shape_of(islands[i], routes[i]));
    for (std::size_t other = 0; other < i; ++other) {
      if (like[other] != other || !are_like(islands[i], islands[other]) || shapes[i] != shapes[other]) continue;
      like[i] = other;
      break;
    }
  }
  return like;
}

/// Returns the names of the links on no route inside an island.
std::set<std::string> links_outside(const std::vector<sim::Cluster>& islands) {
  std::set<std::string> outside;
  for (sim::PlatformLink& link : sim::platform_links(islands.front().platform)) outside.insert(std::move(link.name));
  for (const std::vector<sim::RouteLink>& routes : routes_of(islands, false)) {
    for (const sim::RouteLink& link : routes) outside.erase(link.link);
  }
  return outside;
}

/// Returns a text of all inputs of an island's step, except changes of links and the number of samples.
std::string setting_of(scenario::Scenario scenario, const sim::Cluster& cluster, std::size_t replicas,
                       double sample_scale) {
  scenario.runs.clear();
  const auto& [fidelity, budget, timed_steps, rendezvous, streams, window, jitter] = cluster.network;
  std::string text = fmt::format("{}{} {} {} {} {} {} {} {} {} {}", scenario::print_scenario(scenario), replicas,
                                 sample_scale, to_string(fidelity), budget, timed_steps, rendezvous, streams, window,
                                 cluster.flow_alone, cluster.platform.background.size());
  const spec::DeviceSpec* before = nullptr;
  for (const spec::DeviceSpec& device : cluster.devices) {
    if (before == nullptr || before->name != device.name)
      text += fmt::format("\n{} {}", scenario::print_device(device), device.step_seconds);
    text += fmt::format(" {}", device.slowdown);
    before = &device;
  }
  return text;
}

}  // namespace

sim::Cluster outside_of_islands(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                const sim::Cluster& cluster) {
  const std::size_t devices = scenario::devices_of_participant(scenario, run);
  sim::Cluster outside = cluster;
  outside.hosts.clear();
  outside.devices.clear();
  for (std::size_t first = 0; first < cluster.hosts.size(); first += devices) {
    outside.hosts.push_back(cluster.hosts[first]);
    spec::DeviceSpec& slowest = outside.devices.emplace_back(cluster.devices[first]);
    for (std::size_t i = 1; i < devices; ++i)
      slowest.slowdown = std::max(slowest.slowdown, cluster.devices[first + i].slowdown);
  }
  return outside;
}

IslandSteps::IslandSteps(const scenario::Scenario& scenario, const spec::RunSpec& run,
                         const algorithms::LearningProblem& problem, const TimedAs& timed, double sample_scale,
                         const sim::Cluster& cluster, IslandMemory& memory)
    : memory_(memory),
      replicas_(scenario::replicas_of_participant(scenario, run)),
      devices_(scenario::devices_of_participant(scenario, run)),
      inner_(inner_run(scenario, replicas_)),
      learned_(models::Network(problem.data.shape, problem.model, problem.seed).shape()),
      timed_(timed_alone(scenario, timed, learned_, replicas_)),
      recorded_(record_step(inner_, problem, replicas_)) {
  timed_.sample_scale = sample_scale;
  for (std::size_t first = 0; first < cluster.hosts.size(); first += devices_) {
    sim::Cluster& island = clusters_.emplace_back(cluster);
    const auto part = [&](auto& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      return std::decay_t<decltype(all)>(begin, begin + static_cast<std::ptrdiff_t>(devices_));
    };
    island.hosts = part(cluster.hosts);
    island.devices = part(cluster.devices);
    island.aggregator_host.clear();
    island.framework = {};  // a framework carries only messages between participants, not inside an island
    island.causes = false;
    for (std::size_t i = 0; i < devices_; ++i) island.numbers.push_back(static_cast<std::uint32_t>(first + i));
    island.numbers.push_back(static_cast<std::uint32_t>(cluster.hosts.size()));  // the aggregator, after the hosts
  }
  if (sim::every_step_differs(cluster)) {
    like_ = likeness_of(clusters_);
    return;
  }
  setting_ = setting_of(scenario, cluster, replicas_, sample_scale);
  keep_changes_inside();
  for (const spec::LinkChange& change : clusters_.front().changes)
    setting_ += fmt::format("\n{} {} {}", change.link, change.bandwidth_factor, change.latency_factor);
  like_ = memory_.likeness.answer(setting_, [&] { return likeness_of(clusters_); });
}

void IslandSteps::keep_changes_inside() {
  if (clusters_.front().changes.empty() || !are_compared(clusters_)) return;
  const std::set<std::string> outside = memory_.outside.answer(setting_, [&] { return links_outside(clusters_); });
  for (sim::Cluster& island : clusters_)
    std::erase_if(island.changes, [&](const spec::LinkChange& change) { return outside.contains(change.link); });
}

schedule::Schedule IslandSteps::step_of(std::int64_t samples) const {
  step::Step step = recorded_.distinct_steps.front();
  const auto replicas = static_cast<std::int64_t>(replicas_);
  std::int64_t most = 1;
  for (std::int64_t r = 0; r < replicas; ++r) {
    const std::int64_t own = std::max<std::int64_t>(1, (r + 1) * samples / replicas - r * samples / replicas);
    step.sizes.samples[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(own);
    most = std::max(most, own);
  }
  TimedAs timed = timed_;
  timed.batch = std::max<std::int64_t>(1, std::llround(static_cast<double>(most) * timed.sample_scale));
  return schedule_of(inner_, recorded_, step, learned_, timed);
}

const std::vector<double>& IslandSteps::steps_of(std::size_t island, std::int64_t samples) {
  const std::size_t first = like_.at(island);
  const auto [position, added] = seconds_.try_emplace({first, samples});
  if (!added) return position->second;
  const sim::Cluster& cluster = clusters_[first];
  const auto time = [&](std::size_t count) {
    std::vector<schedule::Schedule> schedules;
    schedules.push_back(step_of(samples));
    while (schedules.size() < count) schedules.push_back(schedules.front());
    const sim::TimedRun timed = sim::time_schedules(cluster, schedules, [](std::size_t) {
      if (interrupted().load(std::memory_order_relaxed)) throw Cancelled();
    });
    std::vector<double> seconds;
    for (const step::StepTiming& step : timed.steps) seconds.push_back(step.seconds);
    return seconds;
  };
  position->second = setting_.empty() ? time(kVaryingSteps)
                                      : memory_.steps.answer(fmt::format("{}\n{} {}", setting_, first, samples),
                                                             [&] { return time(1); });
  return position->second;
}

double IslandSteps::seconds(std::size_t island, std::int64_t samples, std::int64_t first, std::int64_t count) {
  const std::vector<double>& steps = steps_of(island, samples);
  if (steps.size() == 1) return steps.front();
  double sum = 0;
  for (std::int64_t i = first; i < first + count; ++i) sum += steps[static_cast<std::size_t>(i) % steps.size()];
  return sum / static_cast<double>(count);
}

schedule::Schedule IslandSteps::plain_step(std::int64_t samples, const TimedAs& whole) const {
  step::Step step = recorded_.distinct_steps.front();
  std::ranges::fill(step.sizes.samples, static_cast<std::int32_t>(std::max<std::int64_t>(1, samples)));
  return schedule_of(inner_, recorded_, step, learned_, whole);
}

std::vector<schedule::Schedule> IslandSteps::schedules_among(const spec::RunSpec& run,
                                                             const step::Trajectory& trajectory,
                                                             const std::vector<std::size_t>& numbers,
                                                             const TimedAs& whole, const sim::Cluster& outside) {
  const auto share_rest = [share = share_of_parameters()](schedule::Schedule& step) {
    for (schedule::Task& task : step.tasks) {
      auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
      if (compute == nullptr || compute->who != step::Role::workers || compute->of_pass) continue;
      compute->flops = compute->flops.scaled(share);
      compute->bytes_moved = compute->bytes_moved.scaled(share);
    }
  };
  const auto seconds_of = [&](const schedule::Schedule& step, std::size_t device, bool of_pass) {
    double seconds = 0;
    for (const schedule::Task& task : step.tasks) {
      const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
      if (compute != nullptr && compute->who == step::Role::workers && compute->of_pass == of_pass)
        seconds += sim::seconds_on(outside.devices.at(device), *compute, 0, step.precision);
    }
    return seconds;
  };
  std::vector<schedule::Schedule> schedules;
  for (const std::size_t number : numbers) {
    const step::Step& step = trajectory.distinct_steps.at(static_cast<std::size_t>(trajectory.steps.at(number)));
    schedule::Schedule& among = schedules.emplace_back(schedule_of(run, trajectory, step, learned_, whole));
    std::vector<double> stretched;  // per island, seconds of the passes on the island ÷ seconds on one device
    for (std::size_t island = 0; island < islands(); ++island) {
      const std::int64_t samples = step.sizes.samples.at(island);
      schedule::Schedule plain = plain_step(samples, whole);
      share_rest(plain);
      const double passes =
          seconds(island, samples, static_cast<std::int64_t>(number), 1) - seconds_of(plain, island, false);
      stretched.push_back(std::max(0.0, passes) / seconds_of(plain, island, true));
    }
    share_rest(among);
    for (schedule::Task& task : among.tasks) {
      auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
      if (compute == nullptr || compute->who != step::Role::workers || !compute->of_pass) continue;
      std::vector<double> seconds;
      for (std::size_t island = 0; island < islands(); ++island)
        seconds.push_back(stretched[island] *
                          sim::seconds_on(outside.devices[island], *compute, island, among.precision));
      compute->seconds = schedule::PerWorker(seconds);
      compute->flops = compute->bytes_moved = compute->launches = schedule::PerWorker(0.0);
      compute->shape = schedule::KernelShape{};
    }
  }
  return schedules;
}

double IslandSteps::share_of_parameters() const {
  const spec::ParallelismSpec& how = timed_.parallelism;
  const std::size_t all = replicas_ * static_cast<std::size_t>(how.context);
  const std::size_t group = how.sharding_group > 0 ? static_cast<std::size_t>(how.sharding_group) : all;
  const double states = how.sharding == spec::Sharding::none ? 1.0 : static_cast<double>(group);
  return 1.0 / (states * how.tensor * how.pipeline);
}

std::pair<double, double> IslandSteps::range() const {
  std::pair<double, double> range{0, 0};
  for (const auto& [key, steps] : seconds_) {
    for (const double one : steps) {
      range.first = range.first == 0 ? one : std::min(range.first, one);
      range.second = std::max(range.second, one);
    }
  }
  return range;
}

world::Work IslandWorld::of_island(world::Node node, const world::Work& work) {
  const auto island = static_cast<std::size_t>(node);
  if (island >= steps_.islands()) return work;
  world::Work own = work;
  own.pieces.clear();
  for (const world::Work::Piece& piece : work.pieces) {
    if (piece.samples > 0) {
      own.group_seconds += piece.times * steps_.seconds(island, piece.samples, std::max<std::int64_t>(0, work.step),
                                                        std::max<std::int64_t>(1, work.steps));
    } else {
      own.pieces.push_back(piece);
      own.pieces.back().times *= steps_.share_of_parameters();
    }
  }
  return own;
}

}  // namespace dadsim::study
