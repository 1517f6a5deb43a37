#include "sim/simulator.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <unordered_map>
#include <utility>
#include <variant>

#include "sim/child_process.hpp"
#include "sim/engine.hpp"
#include "sim/platform_check.hpp"
#include "sim/replay.hpp"
#include "sim/wire.hpp"
#include "support/fingerprint.hpp"

namespace dadsim {
namespace {

enum class Topic : std::uint8_t { timing, failure };

// ---- what a schedule must be like: the simulation relies on it ----

/// Why the schedule cannot be simulated on the cluster; empty if it can.
std::string fault_of(const Cluster& cluster, const Schedule& schedule) {
  const std::size_t workers = schedule.workers;
  if (workers == 0) return "has no workers";
  if (workers > cluster.hosts.size()) {
    return fmt::format("is for {} workers, and the cluster has {}", workers, cluster.hosts.size());
  }
  if (schedule.uses_aggregator && cluster.aggregator_host.empty())
    return "uses an aggregator, and the cluster has none";
  const auto amounts = [](const PerWorker& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(values[i]) || values[i] < 0) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const Task& task = schedule.tasks[i];
    const std::string place = fmt::format("task {} ({})", i, task.layer);
    try {
      if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
        const std::size_t count = compute->who == Role::workers ? workers : 1;
        if (compute->who == Role::aggregator && !schedule.uses_aggregator)
          return place + " is for an aggregator that is not used";
        if (!amounts(compute->flops, count) || !amounts(compute->bytes_moved, count) ||
            !amounts(compute->launches, count)) {
          return place + " computes an amount that is no number from 0 on";
        }
      } else if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
        const bool star = collective->kind == CollectiveKind::gather || collective->kind == CollectiveKind::broadcast;
        if (star && !schedule.uses_aggregator) return place + " needs an aggregator that is not used";
        const std::size_t count = collective->kind == CollectiveKind::broadcast ? 1 : workers;
        if (!amounts(collective->bytes, count)) return place + " sends an amount that is no number from 0 on";
        for (std::size_t worker = 1; collective->kind == CollectiveKind::all_reduce && worker < workers; ++worker) {
          if (collective->bytes[worker] != collective->bytes[0]) return place + " reduces vectors of unequal size";
        }
      } else if (const auto* wait = std::get_if<WaitTask>(&task.what)) {
        const auto awaited = static_cast<std::size_t>(wait->collective);
        const auto* awaited_task =
            wait->collective >= 0 && awaited < i ? std::get_if<CollectiveTask>(&schedule.tasks[awaited].what) : nullptr;
        if (awaited_task == nullptr)
          return fmt::format("{} waits for task {}, which is no collective before it", place, wait->collective);
        const bool ring =
            awaited_task->kind == CollectiveKind::all_reduce || awaited_task->kind == CollectiveKind::all_gather;
        if (wait->who == Role::aggregator && (ring || !schedule.uses_aggregator)) {
          return place + " lets the aggregator wait for a collective it has no part in";
        }
      }
    } catch (const std::out_of_range&) {
      return place + " has values for fewer workers than take part";
    }
  }
  return {};
}

// ---- distinct schedules ----

std::uint64_t fingerprint_of(const Schedule& schedule) {
  std::string bytes;
  const auto add = [&bytes](double value) {
    const auto pattern = std::bit_cast<std::uint64_t>(value);
    bytes.append(reinterpret_cast<const char*>(&pattern), sizeof pattern);
  };
  const auto add_all = [&](const PerWorker& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(values[i]);
  };
  add(static_cast<double>(schedule.workers));
  for (const Task& task : schedule.tasks) {
    add(static_cast<double>(task.what.index()));
    if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
      const std::size_t count = compute->who == Role::workers ? schedule.workers : 1;
      add_all(compute->flops, count);
      add_all(compute->bytes_moved, count);
    } else if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      add_all(collective->bytes, collective->kind == CollectiveKind::broadcast ? 1 : schedule.workers);
    }
  }
  return fingerprint(bytes);
}

struct Distinct {
  std::vector<std::size_t> first;  ///< per distinct schedule: where it occurs first
  std::vector<std::size_t> of;     ///< per schedule: which distinct one it is
};

Distinct distinct(std::span<const Schedule> schedules) {
  Distinct result;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const std::uint64_t key = fingerprint_of(schedules[i]);
    const auto [from, to] = known.equal_range(key);
    auto found = from;
    while (found != to && !(schedules[result.first[found->second]] == schedules[i])) ++found;
    if (found == to) {
      known.emplace(key, result.first.size());
      result.of.push_back(result.first.size());
      result.first.push_back(i);
    } else {
      result.of.push_back(found->second);
    }
  }
  return result;
}

// ---- between the processes ----

std::string pack(const StepTiming& timing) {
  WireWriter message;
  message << static_cast<std::uint8_t>(Topic::timing) << timing.seconds << timing.compute_seconds
          << timing.exposed_seconds << timing.bytes_sent << timing.bytes_received
          << std::uint64_t{timing.bounds.size()};
  for (const Bound& bound : timing.bounds) {
    message << std::string_view(bound.resource) << std::string_view(bound.kind) << bound.seconds << bound.share;
  }
  return message.bytes();
}

StepTiming unpack(WireReader& message) {
  StepTiming timing;
  std::uint64_t bounds = 0;
  message >> timing.seconds >> timing.compute_seconds >> timing.exposed_seconds >> timing.bytes_sent >>
      timing.bytes_received >> bounds;
  for (std::uint64_t i = 0; i < bounds; ++i) {
    Bound& bound = timing.bounds.emplace_back();
    message >> bound.resource >> bound.kind >> bound.seconds >> bound.share;
  }
  return timing;
}

/// Says what went wrong and ends the child: what other actors wait for will not come any more.
[[noreturn]] void fail(const MessageSink& sink, std::string_view words) {
  WireWriter message;
  message << static_cast<std::uint8_t>(Topic::failure) << words;
  sink.send(message.bytes());
  std::_Exit(1);
}

/// Every schedule by itself, in order: where the platform changes over time, equal ones take different times.
Distinct in_order(std::size_t count) {
  Distinct result;
  for (std::size_t i = 0; i < count; ++i) {
    result.first.push_back(i);
    result.of.push_back(i);
  }
  return result;
}

/// In the child: every schedule of `first`, one after the other.
void simulate(const Cluster& cluster, std::span<const Schedule> schedules, const std::vector<std::size_t>& first,
              const MessageSink& sink) {
  namespace sg4 = simgrid::s4u;
  const auto engine = load_engine(cluster.platform);
  Nodes nodes;
  const auto add = [&](const std::string& name, const DeviceSpec& device) {
    sg4::Host* host = engine->host_by_name_or_null(name);
    if (host == nullptr) fail(sink, fmt::format("host '{}' is not in the platform {}", name, cluster.platform));
    nodes.hosts.push_back(host);
    nodes.devices.push_back(&device);
  };
  for (std::size_t worker = 0; worker < cluster.hosts.size(); ++worker)
    add(cluster.hosts[worker], cluster.devices[worker]);
  nodes.workers = cluster.hosts.size();
  if (!cluster.aggregator_host.empty()) add(cluster.aggregator_host, cluster.aggregator_device);

  sg4::Engine::on_deadlock_cb(
      [&sink] { fail(sink, "nothing can go on any more: every stream waits for another (deadlock)"); });
  Traffic traffic;
  compat::add_actor("driver", nodes.hosts.front(), [&] {
    for (const std::size_t i : first) sink.send(pack(replay(nodes, schedules[i], traffic)));
  });
  engine->run();
  std::_Exit(0);  // taking the engine down again is not needed, and could fail
}

}  // namespace

std::vector<StepTiming> time_schedules(const Cluster& cluster, std::span<const Schedule> schedules,
                                       const std::function<void(std::size_t)>& progress) {
  if (schedules.empty()) return {};
  if (cluster.devices.size() != cluster.hosts.size()) {
    throw SimulationError(fmt::format("{} hosts and {} devices; every worker needs one of each", cluster.hosts.size(),
                                      cluster.devices.size()));
  }
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const std::string fault = fault_of(cluster, schedules[i]);
    if (!fault.empty()) throw SimulationError(fmt::format("schedule {} {}", i, fault));
  }
  const Distinct plan = varies_over_time(cluster.platform) ? in_order(schedules.size()) : distinct(schedules);
  std::vector<StepTiming> simulated;
  std::string failure;
  std::size_t done = 0;
  const auto on_message = [&](std::string_view bytes) {
    WireReader message(bytes);
    std::uint8_t topic = 0;
    message >> topic;
    if (static_cast<Topic>(topic) == Topic::failure) {
      message >> failure;
      return;
    }
    simulated.push_back(unpack(message));
    while (done < plan.of.size() && plan.of[done] < simulated.size()) ++done;
    if (progress) progress(done);
  };
  const ChildOutcome outcome =
      run_in_child([&](const MessageSink& sink) { simulate(cluster, schedules, plan.first, sink); }, on_message);
  if (!outcome.complete() || simulated.size() != plan.first.size()) {
    if (failure.empty()) failure = simgrid_words(outcome.output);
    const std::string how = outcome.complete() ? "ended before it was done" : outcome.words();
    throw SimulationError(
        failure.empty()
            ? fmt::format("the simulation {} after {} of {} steps", how, simulated.size(), plan.first.size())
            : fmt::format("the simulation failed after {} of {} steps: {}{}", simulated.size(), plan.first.size(),
                          failure, outcome.end == ChildOutcome::End::killed ? " (it " + how + ")" : std::string{}));
  }
  std::vector<StepTiming> timings;
  timings.reserve(schedules.size());
  for (const std::size_t index : plan.of) timings.push_back(simulated[index]);
  return timings;
}

}  // namespace dadsim
