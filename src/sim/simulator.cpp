#include "sim/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "collectives/traffic.hpp"
#include "sim/child_process.hpp"
#include "sim/network/flow.hpp"
#include "sim/network/network_use.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/platform_check.hpp"
#include "sim/step/replay.hpp"
#include "sim/step/requests.hpp"
#include "sim/step/slowness.hpp"
#include "sim/step/step_by_flow.hpp"
#include "sim/step/step_kinds.hpp"
#include "sim/step/step_plan.hpp"
#include "sim/step/timeline_recorder.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

enum class Topic : std::uint8_t { timing, traffic, first, collective, network, timeline, first_timeline, failure };

// ---- what a schedule must be like: the simulation relies on it ----

/// Why the schedule cannot be simulated on the cluster; empty if it can.
std::string fault_of(const Cluster& cluster, const step::Schedule& schedule) {
  const std::size_t workers = schedule.workers;
  if (workers == 0) return "has no workers";
  if (workers > cluster.hosts.size()) {
    return fmt::format("is for {} workers, and the cluster has {}", workers, cluster.hosts.size());
  }
  if (schedule.uses_aggregator && cluster.aggregator_host.empty())
    return "uses an aggregator, and the cluster has none";
  const auto amounts = [](const step::PerWorker& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(values[i]) || values[i] < 0) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const step::Task& task = schedule.tasks[i];
    const auto fault = [&](std::string_view words) { return fmt::format("task {} ({}) {}", i, task.layer, words); };
    try {
      if (const auto* compute = std::get_if<step::ComputeTask>(&task.what)) {
        const std::size_t count = compute->who == step::Role::workers ? workers : 1;
        if (compute->who == step::Role::aggregator && !schedule.uses_aggregator)
          return fault("is for an aggregator that is not used");
        if (!amounts(compute->flops, count) || !amounts(compute->bytes_moved, count) ||
            !amounts(compute->launches, count)) {
          return fault("computes an amount that is no number from 0 on");
        }
      } else if (const auto* collective = std::get_if<step::CollectiveTask>(&task.what)) {
        const bool star =
            collective->kind == step::CollectiveKind::gather || collective->kind == step::CollectiveKind::broadcast;
        if (star && !schedule.uses_aggregator) return fault("needs an aggregator that is not used");
        const std::size_t count = collective->kind == step::CollectiveKind::broadcast ? 1 : workers;
        if (!amounts(collective->bytes, count)) return fault("sends an amount that is no number from 0 on");
        for (std::size_t worker = 1; collective->kind == step::CollectiveKind::all_reduce && worker < workers;
             ++worker) {
          if (collective->bytes[worker] != collective->bytes[0]) return fault("reduces vectors of unequal size");
        }
      } else if (const auto* wait = std::get_if<step::WaitTask>(&task.what)) {
        const auto awaited = static_cast<std::size_t>(wait->collective);
        const auto* awaited_task = wait->collective >= 0 && awaited < i
                                       ? std::get_if<step::CollectiveTask>(&schedule.tasks[awaited].what)
                                       : nullptr;
        if (awaited_task == nullptr)
          return fault(fmt::format("waits for task {}, which is no collective before it", wait->collective));
        const bool ring = awaited_task->kind == step::CollectiveKind::all_reduce ||
                          awaited_task->kind == step::CollectiveKind::all_gather;
        if (wait->who == step::Role::aggregator && (ring || !schedule.uses_aggregator)) {
          return fault("lets the aggregator wait for a collective it has no part in");
        }
      }
    } catch (const std::out_of_range&) {
      return fault("has values for fewer workers than take part");
    }
  }
  return {};
}

// ---- between the processes ----

void pack(WireWriter& message, const step::StepTiming& timing) {
  message << timing.seconds << timing.compute_seconds << timing.exposed_seconds << timing.bytes_sent
          << timing.bytes_received << timing.busy_seconds << timing.compression_seconds << timing.waiting_seconds
          << std::uint64_t{timing.bounds.size()};
  for (const step::Bound& bound : timing.bounds) {
    message << std::string_view(bound.resource) << std::string_view(bound.kind) << bound.seconds << bound.share;
  }
}

step::StepTiming unpack_timing(WireReader& message) {
  step::StepTiming timing;
  std::uint64_t bounds = 0;
  message >> timing.seconds >> timing.compute_seconds >> timing.exposed_seconds >> timing.bytes_sent >>
      timing.bytes_received >> timing.busy_seconds >> timing.compression_seconds >> timing.waiting_seconds >> bounds;
  for (std::uint64_t i = 0; i < bounds; ++i) {
    step::Bound& bound = timing.bounds.emplace_back();
    message >> bound.resource >> bound.kind >> bound.seconds >> bound.share;
  }
  return timing;
}

void pack(WireWriter& message, const step::NetworkUse& use) {
  message << std::string_view(use.fidelity) << std::string_view(use.fidelity_note) << use.messages
          << std::uint64_t{use.collectives.size()};
  for (const step::NetworkUse::Collective& one : use.collectives) {
    message << std::string_view(one.kind) << std::string_view(one.algorithm) << one.least_bytes << one.most_bytes
            << one.count;
  }
  message << std::uint64_t{use.links.size()};
  for (const step::NetworkUse::LinkClass& one : use.links) {
    message << std::string_view(one.name) << std::string_view(one.transport) << std::string_view(one.model)
            << one.bandwidth << one.efficiency << one.links;
  }
  message << use.links_used << std::uint64_t{use.link_use.size()};
  for (const step::LinkUse& one : use.link_use) {
    message << std::string_view(one.link) << std::string_view(one.link_class) << one.bandwidth << one.latency
            << one.bytes_per_step << one.busy_share;
  }
}

step::NetworkUse unpack_network(WireReader& message) {
  step::NetworkUse use;
  std::uint64_t count = 0;
  message >> use.fidelity >> use.fidelity_note >> use.messages >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    step::NetworkUse::Collective& one = use.collectives.emplace_back();
    message >> one.kind >> one.algorithm >> one.least_bytes >> one.most_bytes >> one.count;
  }
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    step::NetworkUse::LinkClass& one = use.links.emplace_back();
    message >> one.name >> one.transport >> one.model >> one.bandwidth >> one.efficiency >> one.links;
  }
  message >> use.links_used >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    step::LinkUse& one = use.link_use.emplace_back();
    message >> one.link >> one.link_class >> one.bandwidth >> one.latency >> one.bytes_per_step >> one.busy_share;
  }
  return use;
}

void pack(WireWriter& message, const step::Timeline& timeline) {
  message << timeline.seconds << timeline.last << std::string_view(timeline.fidelity) << timeline.workers
          << timeline.workers_shown << timeline.links << timeline.links_shown << timeline.cut;
  message << std::uint64_t{timeline.labels.size()};
  for (const step::Timeline::Label& label : timeline.labels) {
    message << static_cast<std::uint8_t>(label.activity) << std::string_view(label.name)
            << std::string_view(label.layer) << std::string_view(label.kind) << std::string_view(label.algorithm);
  }
  message << std::uint64_t{timeline.tracks.size()};
  for (const step::Timeline::Track& track : timeline.tracks) {
    message << static_cast<std::uint8_t>(track.stream) << track.node << std::string_view(track.name);
  }
  message << std::uint64_t{timeline.spans.size()};
  for (const step::Timeline::Span& span : timeline.spans) {
    message << span.track << span.label << span.begin << span.seconds << span.amount << span.cut;
  }
}

step::Timeline unpack_timeline(WireReader& message) {
  step::Timeline timeline;
  std::uint64_t count = 0;
  std::uint8_t kind = 0;
  message >> timeline.seconds >> timeline.last >> timeline.fidelity >> timeline.workers >> timeline.workers_shown >>
      timeline.links >> timeline.links_shown >> timeline.cut;
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    step::Timeline::Label& label = timeline.labels.emplace_back();
    message >> kind >> label.name >> label.layer >> label.kind >> label.algorithm;
    label.activity = static_cast<step::Timeline::Activity>(kind);
  }
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    step::Timeline::Track& track = timeline.tracks.emplace_back();
    message >> kind >> track.node >> track.name;
    track.stream = static_cast<step::Timeline::Stream>(kind);
  }
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    step::Timeline::Span& span = timeline.spans.emplace_back();
    message >> span.track >> span.label >> span.begin >> span.seconds >> span.amount >> span.cut;
  }
  return timeline;
}

WireWriter about(Topic topic) {
  WireWriter message;
  message << static_cast<std::uint8_t>(topic);
  return message;
}

/// Says what went wrong and ends the child: what other actors wait for will not come any more.
[[noreturn]] void fail(const MessageSink& sink, std::string_view words) {
  WireWriter message = about(Topic::failure);
  message << words;
  sink.send(message.bytes());
  std::_Exit(1);
}

// ---- in the child ----

/// The cluster on a loaded platform.
struct LoadedCluster {
  LoadedCluster(const Cluster& asked, const MessageSink& sink) : engine(load_engine(asked.platform, asked.changes)) {
    namespace sg4 = simgrid::s4u;
    const auto add = [&](const std::string& name, const spec::DeviceSpec& device) {
      sg4::Host* host = engine->host_by_name_or_null(name);
      if (host == nullptr) fail(sink, fmt::format("host '{}' is not in the platform", name));
      nodes.hosts.push_back(host);
      nodes.devices.push_back(&device);
    };
    const spec::DeviceSpec* device = asked.devices.data();
    for (const std::string& name : asked.hosts) add(name, asked.devices.empty() ? no_device : *device++);
    nodes.workers = asked.hosts.size();
    if (!asked.aggregator_host.empty()) add(asked.aggregator_host, asked.aggregator_device);
    const auto* file = std::get_if<spec::PlatformFileSpec>(&asked.platform.what);
    network = std::make_unique<Interconnect>(*engine, varies_over_time(asked.platform),
                                             file == nullptr ? spec::Transport::plain : file->transport);
    connections = std::make_unique<Connections>(*network, nodes.hosts, asked.network.rendezvous);
    sg4::Engine::on_deadlock_cb(
        [&sink] { fail(sink, "nothing can go on any more: every stream waits for another (deadlock)"); });
  }

  /// Runs in an actor, and ends the child.
  [[noreturn]] void act(const MessageSink& sink, const std::function<void()>& code) {
    compat::add_actor("driver", nodes.hosts.front(), [&] {
      try {
        code();
      } catch (const simgrid::ForcefulKillException&) {
        throw;
      } catch (const std::exception& error) {
        fail(sink, error.what());
      }
      std::_Exit(0);  // taking the engine down again is not needed, and could fail
    });
    engine->run();
    std::_Exit(0);
  }

  bool has_tcp() const {
    return std::ranges::any_of(network->paths(),
                               [](const Path& path) { return path.use.transport == spec::Transport::tcp; });
  }

  inline static const spec::DeviceSpec no_device{};
  std::unique_ptr<simgrid::s4u::Engine> engine;
  Nodes nodes;
  std::unique_ptr<Interconnect> network;
  std::unique_ptr<Connections> connections;
};

/// The layout of the first workers of a cluster.
collectives::RankLayout first_ranks(const collectives::RankLayout& layout, std::size_t workers) {
  collectives::RankLayout result = layout;
  result.node_of.resize(workers);
  return result;
}

/// Whether workers send to one another in any of the schedules. If all they know is an aggregator, the platform needs
/// no routes between them.
bool workers_meet(std::span<const step::Schedule> schedules, const StepKinds* kinds) {
  if (kinds != nullptr) {
    return std::ranges::any_of(kinds->kinds(), [](const StepKinds::Kind& kind) { return !kind.elsewhere.empty(); });
  }
  return std::ranges::any_of(schedules, [](const step::Schedule& schedule) {
    return std::ranges::any_of(schedule.tasks, [](const step::Task& task) {
      const auto* collective = std::get_if<step::CollectiveTask>(&task.what);
      return collective != nullptr && collective->kind != step::CollectiveKind::gather &&
             collective->kind != step::CollectiveKind::broadcast;
    });
  });
}

/// Every rank on a node of its own.
collectives::RankLayout ranks_apart(std::size_t ranks) {
  collectives::RankLayout layout;
  for (std::size_t rank = 0; rank < ranks; ++rank) layout.node_of.push_back(static_cast<std::int32_t>(rank));
  return layout;
}

/// How the collectives of the schedules are carried out: `auto` replaced by what it stands for, and counted.
class Choices {
 public:
  Choices(const collectives::RankLayout& layout, step::NetworkUse& use) : layout_(layout), use_(use) {}

  /// Messages of all collectives.
  double settle(step::Schedule& schedule) {
    double messages = 0;
    const collectives::RankLayout layout = first_ranks(layout_, schedule.workers);
    for (step::Task& task : schedule.tasks) {
      auto* collective = std::get_if<step::CollectiveTask>(&task.what);
      if (collective == nullptr) continue;
      const Request request = choose(*collective, layout);
      collective->algorithm = request.algorithm;
      messages += messages_of(*lay_out(request.collective, request.algorithm, request.layout));
    }
    return messages;
  }

  /// What is sent and received in the collectives that the kind of schedule has elsewhere than at a star.
  Traffic traffic_elsewhere(const StepKinds::Kind& kind, const step::Schedule& schedule) {
    const std::size_t nodes = kind.star_traffic.sent.size();
    const collectives::RankLayout layout = first_ranks(layout_, schedule.workers);
    Traffic traffic{std::vector<double>(nodes), std::vector<double>(nodes)};
    for (const std::size_t task : kind.elsewhere) {
      const Request request = choose(std::get<step::CollectiveTask>(schedule.tasks[task].what), layout);
      add_traffic(*lay_out(request.collective, request.algorithm, request.layout), traffic.sent, traffic.received);
    }
    return traffic;
  }

  /// What the kind of schedule does at a star.
  void note(const StepKinds::Kind& kind) {
    for (const StepKinds::Collective& one : kind.at_star) note(to_string(one.kind), "flat", one.bytes);
  }

  static double messages_of(const collectives::Rounds& rounds) {
    double messages = 0;
    std::vector<collectives::Transfer> transfers;
    for (const collectives::RoundPhase& phase : rounds.phases()) {
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) rounds.sends(rank, phase.first, transfers);
      messages += static_cast<double>(phase.rounds) * static_cast<double>(transfers.size());
      transfers.clear();
    }
    return messages;
  }

  void note(std::string_view kind, std::string_view algorithm, double bytes) {
    auto found = std::ranges::find_if(use_.collectives,
                                      [&](const auto& one) { return one.kind == kind && one.algorithm == algorithm; });
    if (found == use_.collectives.end()) {
      found =
          use_.collectives.insert(use_.collectives.end(), {std::string(kind), std::string(algorithm), bytes, bytes, 0});
    }
    found->least_bytes = std::min(found->least_bytes, bytes);
    found->most_bytes = std::max(found->most_bytes, bytes);
    ++found->count;
  }

 private:
  Request choose(const step::CollectiveTask& task, const collectives::RankLayout& layout) {
    Request request = request_of(task, layout);
    if (request.algorithm == "auto") request.algorithm = choose_collective(request.collective, request.layout);
    note(to_string(task.kind), request.algorithm, *std::ranges::max_element(request.collective.bytes));
    return request;
  }

  const collectives::RankLayout& layout_;
  step::NetworkUse& use_;
};

constexpr double kMostMessages = 2e9;  // simulated one by one: hours

/// Decides how closely, and says why.
class FidelityChoice {
 public:
  FidelityChoice(const Cluster& cluster, double messages) : asked_(cluster.network.fidelity), messages_(messages) {
    if (asked_ == spec::Fidelity::message) by_flow_ = false;
    if (asked_ == spec::Fidelity::flow || asked_ == spec::Fidelity::closed_form) by_flow_ = true;
    if (asked_ == spec::Fidelity::automatic) by_flow_ = messages > static_cast<double>(cluster.network.message_budget);
    if (by_flow_ && every_step_differs(cluster)) {
      refuse("the network or the speed of computing changes over time, or others use it");
    }
    if (by_flow_ && cluster.network.rendezvous) refuse("messages wait for their receivers (rendezvous)");
  }

  bool by_flow() const { return by_flow_; }
  bool closed_form() const { return asked_ == spec::Fidelity::closed_form; }

  void refuse(const std::string& reason) {
    by_flow_ = false;
    if (asked_ == spec::Fidelity::closed_form) asked_ = spec::Fidelity::flow;
    if (note_.empty()) note_ = fmt::format("not by flow: {}", reason);
    if (messages_ > kMostMessages) {
      throw std::runtime_error(
          fmt::format("{:.3g} messages are too many to simulate one by one, and {}", messages_, note_));
    }
  }

  void describe(step::NetworkUse& use) const {
    use.fidelity =
        !by_flow_ ? "message" : to_string(closed_form() ? spec::Fidelity::closed_form : spec::Fidelity::flow);
    use.fidelity_note = note_;
    if (by_flow_ && asked_ == spec::Fidelity::automatic) {
      use.fidelity_note = fmt::format("by flow: {:.3g} messages are more than the budget", messages_);
    }
  }

 private:
  spec::Fidelity asked_;
  double messages_;
  bool by_flow_ = false;
  std::string note_;
};

/// In the child: one schedule after the other.
void simulate(const Cluster& cluster, std::span<const step::Schedule> schedules, const StepKinds* kinds,
              const StepSelection& plan, const TimingRequest& request, const MessageSink& sink) {
  LoadedCluster loaded(cluster, sink);
  loaded.act(sink, [&] {
    step::NetworkUse use;
    const std::vector<simgrid::s4u::Host*> workers(
        loaded.nodes.hosts.begin(), loaded.nodes.hosts.begin() + static_cast<std::ptrdiff_t>(loaded.nodes.workers));
    const collectives::RankLayout layout =
        workers_meet(schedules, kinds) ? sim::rank_layout(workers, *loaded.network) : ranks_apart(workers.size());
    Choices choices(layout, use);
    std::vector<step::Schedule> settled;
    double messages = 0;
    const std::vector<StepSelection::Simulated>& wanted = plan.simulated();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double own = choices.settle(settled.emplace_back(schedules[wanted[i].schedule]));
      if (i < plan.of_run()) messages += own;  // a trace changes nothing about the run
    }
    for (const std::size_t i : plan.others()) {
      const StepKinds::Kind& kind = kinds->kinds()[i];
      choices.note(kind);
      if (kind.elsewhere.empty()) continue;
      WireWriter message = about(Topic::traffic);
      const Traffic traffic = choices.traffic_elsewhere(kind, schedules[kind.first]);
      message << std::uint64_t{i} << traffic.sent << traffic.received;
      sink.post(message.bytes());
    }
    FidelityChoice fidelity(cluster, messages);
    const Slowness slowness(cluster.network.jitter, cluster.seed, loaded.nodes.hosts.size());
    start_background(cluster.platform, *loaded.engine);
    const bool in_order = every_step_differs(cluster);
    const auto send = [&](Topic topic, const step::StepTiming& timing) {
      WireWriter message = about(topic);
      pack(message, timing);
      sink.post(message.bytes());
    };
    const auto send_timeline = [&](Topic topic, const TimelineRecorder& recorder) {
      WireWriter message = about(topic);
      pack(message, recorder.timeline(*loaded.network, use.fidelity));
      sink.send(message.bytes());
    };
    LinkUseCount link_use;
    std::vector<std::unique_ptr<TimelineRecorder>> recorders(settled.size());
    std::vector<step::StepTiming> by_flow;
    for (std::size_t i = 0; fidelity.by_flow() && i < settled.size(); ++i) {
      try {
        std::vector<LinkLoad> loads;
        if (wanted[i].trace || (i == 0 && request.trace_first)) {
          recorders[i] = std::make_unique<TimelineRecorder>(loaded.nodes, settled[i], 0, request.most_spans);
        }
        by_flow.push_back(sim::step_by_flow(loaded.nodes, first_ranks(layout, settled[i].workers), settled[i],
                                            *loaded.network, fidelity.closed_form(), loads, recorders[i].get()));
        link_use.add(loads, by_flow.back().seconds, wanted[i].times);
      } catch (const FlowRefused& refusal) {
        fidelity.refuse(refusal.what());
      }
    }
    fidelity.describe(use);
    if (fidelity.by_flow()) {
      for (std::size_t i = 0; i < by_flow.size(); ++i) {
        if (recorders[i]) send_timeline(Topic::timeline, *recorders[i]);
        send(Topic::timing, by_flow[i]);
      }
    } else {
      recorders.clear();
      link_use = {};
      StepReplayer replayer(loaded.nodes, *loaded.network, *loaded.connections);
      for (std::size_t i = 0; i < settled.size(); ++i) {
        std::unique_ptr<TimelineRecorder> recorder;
        const auto time = [&](bool trace) {
          recorder.reset();
          if (trace) {
            recorder = std::make_unique<TimelineRecorder>(loaded.nodes, settled[i], simgrid::s4u::Engine::get_clock(),
                                                          request.most_spans);
            loaded.network->trace(&recorder->links());
          }
          step::StepTiming timing =
              replayer.replay(first_ranks(layout, settled[i].workers), settled[i], slowness.of_step(i), recorder.get());
          loaded.network->trace(nullptr);
          return timing;
        };
        step::StepTiming timing = time(wanted[i].trace || (i == 0 && request.trace_first));
        double left = wanted[i].times;
        // The first messages of a run go over connections that are new; a step is what it is on those that are not.
        if (i == 0 && !in_order && loaded.has_tcp()) {
          if (recorder && request.trace_first) send_timeline(Topic::first_timeline, *recorder);
          send(Topic::first, timing);
          link_use.add(loaded.network->take_loads(), timing.seconds, std::min(1.0, left));
          left -= std::min(1.0, left);
          timing = time(wanted[i].trace);
        }
        if (recorder) send_timeline(Topic::timeline, *recorder);
        link_use.add(loaded.network->take_loads(), timing.seconds, left);
        send(Topic::timing, timing);
      }
    }
    describe_links(*loaded.network, use);
    link_use.describe(*loaded.network, use);
    use.messages = static_cast<double>(loaded.connections->messages());
    WireWriter message = about(Topic::network);
    pack(message, use);
    sink.send(message.bytes());
  });
}

/// In the child: every job, first on new connections, then on those.
void simulate_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs, const MessageSink& sink) {
  LoadedCluster loaded(cluster, sink);
  loaded.act(sink, [&] {
    step::NetworkUse use;
    const collectives::RankLayout layout = sim::rank_layout(loaded.nodes.hosts, *loaded.network);
    Choices choices(layout, use);
    start_background(cluster.platform, *loaded.engine);
    for (const CollectiveJob& job : jobs) {
      CollectiveTiming timing;
      timing.algorithm = job.algorithm == "auto" ? choose_collective(job.request, layout) : job.algorithm;
      const std::unique_ptr<collectives::Rounds> rounds = lay_out(job.request, timing.algorithm, layout);
      timing.messages = Choices::messages_of(*rounds);
      FidelityChoice fidelity(cluster, timing.messages);
      if (fidelity.by_flow()) {
        try {
          timing.seconds = timing.cold_seconds =
              collective_by_flow(loaded.nodes, *rounds, *loaded.network, fidelity.closed_form());
        } catch (const FlowRefused& refusal) {
          fidelity.refuse(refusal.what());
        }
      }
      if (!fidelity.by_flow()) {
        loaded.connections->close();
        timing.cold_seconds = replay(loaded.nodes, *rounds, *loaded.connections);
        timing.seconds = loaded.has_tcp() ? replay(loaded.nodes, *rounds, *loaded.connections) : timing.cold_seconds;
      }
      fidelity.describe(use);
      timing.fidelity = !fidelity.by_flow()      ? spec::Fidelity::message
                        : fidelity.closed_form() ? spec::Fidelity::closed_form
                                                 : spec::Fidelity::flow;
      choices.note(to_string(job.request.kind), timing.algorithm, *std::ranges::max_element(job.request.bytes));
      WireWriter message = about(Topic::collective);
      message << std::string_view(timing.algorithm) << static_cast<std::uint8_t>(timing.fidelity) << timing.seconds
              << timing.cold_seconds << timing.messages;
      sink.send(message.bytes());
    }
    describe_links(*loaded.network, use);
    use.messages = static_cast<double>(loaded.connections->messages());
    WireWriter message = about(Topic::network);
    pack(message, use);
    sink.send(message.bytes());
  });
}

/// What a child that ended too soon says of itself. `done` of `all` are there.
[[noreturn]] void give_up(const ChildOutcome& outcome, std::string failure, const std::string& what, std::size_t done,
                          std::size_t all) {
  if (failure.empty()) failure = simgrid_words(outcome.output);
  const std::string how = outcome.complete() ? "ended before it was done" : outcome.words();
  throw SimulationError(
      failure.empty() ? fmt::format("the simulation {} after {} of {} {}", how, done, all, what)
                      : fmt::format("the simulation failed after {} of {} {}: {}{}", done, all, what, failure,
                                    outcome.end == ChildOutcome::End::killed ? " (it " + how + ")" : std::string{}));
}

}  // namespace

bool every_step_differs(const Cluster& cluster) {
  return varies_over_time(cluster.platform) || !cluster.platform.background.empty() ||
         !(cluster.network.jitter == spec::JitterSpec{});
}

TimedRun time_schedules(const Cluster& cluster, std::span<const step::Schedule> schedules,
                        const std::function<void(std::size_t)>& progress, const TimingRequest& request) {
  TimedRun result;
  if (schedules.empty()) return result;
  if (cluster.devices.size() != cluster.hosts.size()) {
    throw SimulationError(fmt::format("{} hosts and {} devices; every worker needs one of each", cluster.hosts.size(),
                                      cluster.devices.size()));
  }
  const auto check = [&](std::size_t i) {
    const std::string fault = fault_of(cluster, schedules[i]);
    if (!fault.empty()) throw SimulationError(fmt::format("schedule {} {}", i, fault));
  };
  const bool every_step = every_step_differs(cluster);
  const StepKinds* kinds = every_step ? nullptr : request.kinds;
  const bool known = kinds != nullptr;
  std::optional<StepKinds> own_kinds;
  if (!known) {
    for (std::size_t i = 0; i < schedules.size(); ++i) check(i);
    if (!every_step) kinds = &own_kinds.emplace(schedules);
  }
  const auto most = static_cast<std::size_t>(cluster.network.timed_steps);
  const StepSelection plan(schedules.size(), kinds,
                           {.most = most, .occurrences = request.occurrences, .trace = request.trace});
  if (known) {
    for (const StepSelection::Simulated& one : plan.simulated()) check(one.schedule);
  }
  std::vector<Traffic> others;
  others.reserve(plan.others().size());
  for (const std::size_t kind : plan.others()) others.push_back(kinds->kinds()[kind].star_traffic);
  std::vector<std::shared_ptr<const step::Timeline>> timelines(plan.simulated().size());
  std::vector<step::StepTiming> simulated;
  std::string failure;
  bool complete = false;
  const auto on_message = [&](std::string_view bytes) {
    WireReader message(bytes);
    std::uint8_t topic = 0;
    message >> topic;
    switch (static_cast<Topic>(topic)) {
      case Topic::failure:
        message >> failure;
        return;
      case Topic::first:
        result.first = unpack_timing(message);
        return;
      case Topic::network:
        result.network = unpack_network(message);
        complete = true;
        return;
      case Topic::timeline:  // comes before the timing of its schedule
        timelines[simulated.size()] = std::make_shared<const step::Timeline>(unpack_timeline(message));
        return;
      case Topic::first_timeline:
        result.first_timeline = std::make_shared<const step::Timeline>(unpack_timeline(message));
        return;
      case Topic::timing:
        simulated.push_back(unpack_timing(message));
        if (progress) progress(plan.done_after(simulated.size()));
        return;
      case Topic::traffic: {
        std::uint64_t kind = 0;
        Traffic more;
        message >> kind >> more.sent >> more.received;
        const auto place = std::ranges::lower_bound(plan.others(), kind) - plan.others().begin();
        Traffic& all = others.at(static_cast<std::size_t>(place));
        std::ranges::transform(all.sent, more.sent, all.sent.begin(), std::plus{});
        std::ranges::transform(all.received, more.received, all.received.begin(), std::plus{});
        return;
      }
      case Topic::collective:
        return;
    }
  };
  const ChildOutcome outcome = run_in_child(
      [&](const MessageSink& sink) { simulate(cluster, schedules, kinds, plan, request, sink); }, on_message);
  if (!outcome.complete() || !complete) {
    give_up(outcome, failure, "steps", simulated.size(), plan.simulated().size());
  }
  result.stand_for = plan.stand_for();
  result.network.sampling = plan.sampling(simulated);
  result.steps = plan.timings_of_all(std::move(simulated), std::move(others));
  if (every_step && most > 0 && most < schedules.size()) {
    std::string& note = result.network.fidelity_note;
    note +=
        fmt::format("{}every step simulated: the network or the speed of computing changes over time, or others use it",
                    note.empty() ? "" : "; ");
  }
  for (const std::size_t schedule : request.trace) result.timelines.push_back(timelines[plan.place_of(schedule)]);
  if (request.trace_first && !result.first_timeline) result.first_timeline = timelines.front();
  return result;
}

TimedCollectives time_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs,
                                  const std::function<void(std::size_t)>& progress) {
  TimedCollectives result;
  if (jobs.empty()) return result;
  std::string failure;
  bool complete = false;
  const auto on_message = [&](std::string_view bytes) {
    WireReader message(bytes);
    std::uint8_t topic = 0;
    message >> topic;
    if (static_cast<Topic>(topic) == Topic::failure) {
      message >> failure;
    } else if (static_cast<Topic>(topic) == Topic::network) {
      result.network = unpack_network(message);
      complete = true;
    } else {
      CollectiveTiming& timing = result.timings.emplace_back();
      std::uint8_t fidelity = 0;
      message >> timing.algorithm >> fidelity >> timing.seconds >> timing.cold_seconds >> timing.messages;
      timing.fidelity = static_cast<spec::Fidelity>(fidelity);
      if (progress) progress(result.timings.size());
    }
  };
  const ChildOutcome outcome =
      run_in_child([&](const MessageSink& sink) { simulate_collectives(cluster, jobs, sink); }, on_message);
  if (!outcome.complete() || !complete) give_up(outcome, failure, "collectives", result.timings.size(), jobs.size());
  return result;
}

}  // namespace dadsim::sim
