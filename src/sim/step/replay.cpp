#include "sim/step/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <simgrid/kernel/Timer.hpp>
#include <utility>
#include <variant>

#include "sim/step/collective_run.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/requests.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;
using EventId = EventGraph::Id;

double now() { return sg4::Engine::get_clock(); }

/// What a node's compute stream does and waits for: an actor that goes through the tasks in order.
struct ComputeStream {
  EventId cause = EventGraph::kStart;    ///< whose end let it come to where it is now
  double busy = 0, end = 0;              ///< seconds
  double compressing = 0, waiting = 0;   ///< seconds: parts of what it is busy and of what it stands still
  std::optional<std::size_t> waits_for;  ///< task
  sg4::SemaphorePtr wake = sg4::Semaphore::create(0);
  Outbox outbox;
  /// Computations that follow one another.
  struct Piece {
    std::size_t task;
    double until;  ///< seconds of computing since the first began
  };
  std::vector<Piece> pieces;
};

/// A node's part in a collective.
struct Part {
  bool issued = false;
  double begun_at = 0;    ///< when its collectives before that were done
  double through_at = 0;  ///< when the last of what it sent had arrived; only where that is recorded
  double issued_at = 0;
  EventId issued_by = EventGraph::kStart;
  bool done = false;
  double done_at = 0;
  EventId done_by = EventGraph::kStart;
};

struct Operation {
  std::unique_ptr<collectives::Rounds> rounds;
  std::unique_ptr<CollectiveRun> run;
  std::vector<Part> parts;  ///< per node
  double last_issued = 0;   ///< seconds: by who issued it last, so far
};

/// One step.
class Replay {
 public:
  Replay(const Nodes& nodes, const collectives::RankLayout& layout, const step::Schedule& schedule,
         Interconnect& network, Connections& connections, const std::vector<double>& slowness,
         TimelineRecorder* recorder)
      : nodes_(nodes),
        schedule_(schedule),
        network_(network),
        connections_(connections),
        slowness_(slowness),
        recorder_(recorder),
        measured_(nodes.devices, schedule),
        begin_(now()),
        graph_(begin_) {
    connections_.number_aggregator(static_cast<std::int32_t>(schedule_.workers),
                                   static_cast<std::int32_t>(nodes_.workers));
    const std::size_t count = schedule_.workers + (schedule_.uses_aggregator ? 1 : 0);
    streams_.resize(count);
    next_send_.resize(count, 0);
    free_at_.resize(count, begin_);
    free_by_.resize(count, EventGraph::kStart);
    hosts_.reserve(count);
    for (std::size_t node = 0; node < count; ++node) hosts_.push_back(nodes_.hosts[host_index(node)]);
    timing_.bytes_sent.assign(count, 0.0);
    timing_.bytes_received.assign(count, 0.0);
    operations_.resize(schedule_.tasks.size());
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const auto* task = std::get_if<step::CollectiveTask>(&schedule_.tasks[i].what);
      if (task == nullptr) continue;
      const Request request = request_of(*task, layout);
      Operation& operation = operations_[i];
      operation.rounds = lay_out(request.collective, request.algorithm, request.layout);
      operation.parts.resize(count);
      operation.run = std::make_unique<CollectiveRun>(
          static_cast<std::int32_t>(i), *operation.rounds, connections_, graph_,
          [this, i](collectives::Rank rank, double date, EventId cause, Outbox& outbox) {
            done(i, static_cast<std::size_t>(rank), date, cause, outbox);
          });
    }
  }

  std::size_t nodes() const { return streams_.size(); }
  /// Index of the node's host among those of the cluster.
  std::size_t host_index(std::size_t node) const { return is_worker(node) ? node : nodes_.workers; }

  /// Before the streams start.
  void begin() {
    connections_.on_arrival([this](const Message& message, double date, std::int32_t bottleneck, Outbox& outbox) {
      timing_.bytes_sent[static_cast<std::size_t>(message.from)] += message.bytes;
      timing_.bytes_received[static_cast<std::size_t>(message.to)] += message.bytes;
      Operation& operation = operations_[static_cast<std::size_t>(message.operation)];
      if (recorder_ != nullptr) {
        double& through = operation.parts[static_cast<std::size_t>(message.from)].through_at;
        through = std::max(through, date);
      }
      operation.run->arrived(message, date, bottleneck, outbox);
    });
  }

  /// The compute stream of a node, in its actor.
  void compute_in_order(std::size_t node) {
    ComputeStream& own = streams_[node];
    begin_receiving(node);
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const step::Task& task = schedule_.tasks[i];
      if (!concerns(task, node)) continue;
      if (std::holds_alternative<step::ComputeTask>(task.what)) {
        i = execute_from(i, node) - 1;
      } else if (const auto* wait = std::get_if<step::WaitTask>(&task.what)) {
        wait_for(i, static_cast<std::size_t>(wait->collective), node);
      } else {
        issue(i, node);
      }
    }
    own.end = now();
    own.outbox.drain();
  }

  /// When all streams have ended.
  step::StepTiming end() {
    connections_.wait_until_idle();
    std::size_t last = 0;
    for (std::size_t worker = 1; worker < schedule_.workers; ++worker) {
      if (streams_[worker].end > streams_[last].end) last = worker;
    }
    timing_.seconds = streams_[last].end - begin_;
    timing_.compute_seconds = std::min(streams_[last].busy, timing_.seconds);
    timing_.exposed_seconds = timing_.seconds - timing_.compute_seconds;
    timing_.compression_seconds = std::min(streams_[last].compressing, timing_.compute_seconds);
    timing_.waiting_seconds = std::min(streams_[last].waiting, timing_.exposed_seconds);
    for (const ComputeStream& stream : streams_) timing_.busy_seconds.push_back(stream.busy);
    timing_.bounds = graph_.critical_path(streams_[last].cause, names());
    if (recorder_ != nullptr) {
      record_collectives();
      recorder_->ended(timing_.seconds, last);
    }
    return timing_;
  }

 private:
  bool is_worker(std::size_t node) const { return node < schedule_.workers; }
  bool takes_part(std::size_t node, step::Role who) const { return is_worker(node) == (who == step::Role::workers); }

  // ---- the compute stream ----

  /// Whether a node has anything to do with a task.
  bool concerns(const step::Task& task, std::size_t node) const {
    if (const auto* compute = std::get_if<step::ComputeTask>(&task.what)) return takes_part(node, compute->who);
    if (const auto* wait = std::get_if<step::WaitTask>(&task.what)) return takes_part(node, wait->who);
    return issues(std::get<step::CollectiveTask>(task.what), node);
  }

  /// Computations that follow one another are one for SimGrid, unless speeds change meanwhile: who computes sees
  /// nothing of the others in between. Returns the task behind them.
  std::size_t execute_from(std::size_t first, std::size_t node) {
    ComputeStream& own = streams_[node];
    std::size_t next = first;
    double together = 0;
    own.pieces.clear();
    for (; next < schedule_.tasks.size(); ++next) {
      if (!concerns(schedule_.tasks[next], node)) continue;
      const auto* task = std::get_if<step::ComputeTask>(&schedule_.tasks[next].what);
      if (task == nullptr || (together > 0 && network_.varies())) break;
      double seconds = measured_.seconds(host_index(node), *task, is_worker(node) ? node : 0);
      if (!slowness_.empty()) seconds *= slowness_[host_index(node)];
      if (seconds <= 0) continue;
      together += seconds;
      own.pieces.push_back({next, together});
    }
    if (together <= 0) return next;
    const double begin = now();
    sg4::this_actor::execute(together * hosts_[node]->get_speed());
    const double end = now();
    own.busy += end - begin;
    double since = begin;
    for (const auto& [task, seconds] : own.pieces) {
      const double until = seconds < together ? begin + (end - begin) * (seconds / together) : end;
      if (is_compression(std::get<step::ComputeTask>(schedule_.tasks[task].what).phase))
        own.compressing += until - since;
      if (recorder_ != nullptr) recorder_->computed(node, task, since, until);
      since = until;
    }
    own.cause = graph_.add_computation(static_cast<std::int32_t>(node), begin, end, own.cause);
    return next;
  }

  void wait_for(std::size_t index, std::size_t task, std::size_t node) {
    ComputeStream& own = streams_[node];
    const Part& part = operations_[task].parts[node];
    const double begin = now();
    if (!part.done) {
      own.waits_for = task;
      own.wake->acquire();
    } else if (part.done_at > begin) {
      sg4::this_actor::sleep_until(part.done_at);
    }
    if (part.done_at <= begin) return;
    own.cause = part.done_by;
    if (recorder_ != nullptr) recorder_->waited(node, index, begin, now());
    // Who is done with a collective that it gets something from gets it from all who issue it: they have by now.
    if (collective(task).kind == step::CollectiveKind::gather && is_worker(node)) return;
    own.waiting += std::max(0.0, operations_[task].last_issued - begin);
  }

  // ---- collectives ----

  /// Whether a node only receives in a task: it takes part from the start, without being asked.
  bool only_receives(const step::CollectiveTask& task, std::size_t node) const {
    return task.kind == step::CollectiveKind::gather ? !is_worker(node)
                                                     : task.kind == step::CollectiveKind::broadcast && is_worker(node);
  }
  const step::CollectiveTask& collective(std::size_t task) const {
    return std::get<step::CollectiveTask>(schedule_.tasks[task].what);
  }

  void begin_receiving(std::size_t node) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (operations_[i].run && only_receives(collective(i), node)) {
        operations_[i].run->begin(static_cast<collectives::Rank>(node), begin_, EventGraph::kStart,
                                  streams_[node].outbox);
      }
    }
  }

  /// Whether a node has to issue a task: it takes part, and not only by receiving. The aggregator has no part in what
  /// the workers do among themselves.
  bool issues(const step::CollectiveTask& task, std::size_t node) const {
    const bool star = task.kind == step::CollectiveKind::gather || task.kind == step::CollectiveKind::broadcast;
    return (is_worker(node) || star) && !only_receives(task, node);
  }

  void issue(std::size_t task, std::size_t node) {
    Part& part = operations_[task].parts[node];
    part.issued = true;
    part.issued_at = now();
    operations_[task].last_issued = now();
    part.issued_by = streams_[node].cause;
    begin_next(node, streams_[node].outbox);
  }

  /// The node's collectives in which it sends go one after the other.
  void begin_next(std::size_t node, Outbox& outbox) {
    std::size_t& next = next_send_[node];
    while (next < operations_.size() && (!operations_[next].run || !issues(collective(next), node))) ++next;
    if (next == operations_.size()) return;
    Part& part = operations_[next].parts[node];
    if (!part.issued || begun_[node]) return;
    begun_[node] = true;
    const bool waited = free_at_[node] > part.issued_at;
    part.begun_at = waited ? free_at_[node] : part.issued_at;
    operations_[next].run->begin(static_cast<collectives::Rank>(node), waited ? free_at_[node] : part.issued_at,
                                 waited ? free_by_[node] : part.issued_by, outbox);
  }

  void done(std::size_t task, std::size_t node, double date, EventId cause, Outbox& outbox) {
    Part& part = operations_[task].parts[node];
    part.done = true;
    part.done_at = date;
    part.done_by = cause;
    ComputeStream& stream = streams_[node];
    if (stream.waits_for == task) {
      stream.waits_for.reset();
      if (date > now()) {
        Timer::set(date, [&stream] { stream.wake->release(); });
      } else {
        stream.wake->release();
      }
    }
    if (only_receives(collective(task), node)) return;
    free_at_[node] = date;
    free_by_[node] = cause;
    begun_[node] = false;
    ++next_send_[node];
    begin_next(node, outbox);
  }

  /// The nodes' parts, from when they began to when they were done. Who only receives begins when the first of the
  /// others does; who only sends is done when the last has arrived.
  void record_collectives() {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (!operations_[i].run) continue;
      const step::CollectiveTask& task = collective(i);
      const std::vector<Part>& parts = operations_[i].parts;
      const bool star = task.kind == step::CollectiveKind::gather || task.kind == step::CollectiveKind::broadcast;
      double first = std::numeric_limits<double>::infinity();
      for (std::size_t node = 0; node < parts.size(); ++node) {
        if (issues(task, node)) first = std::min(first, parts[node].begun_at);
      }
      for (std::size_t node = 0; node < parts.size(); ++node) {
        const Part& part = parts[node];
        if (only_receives(task, node)) {
          recorder_->communicated(node, i, first, part.done_at, true);
        } else if (issues(task, node)) {
          recorder_->communicated(node, i, part.begun_at, star ? std::max(part.done_at, part.through_at) : part.done_at,
                                  false);
        }
      }
    }
  }

  EventGraph::Names names() const {
    EventGraph::Names names;
    for (std::size_t node = 0; node < streams_.size(); ++node) {
      names.computation.push_back(
          fmt::format("{} ({})", hosts_[node]->get_cname(), nodes_.devices[host_index(node)]->name));
    }
    for (const Path& path : network_.paths()) {
      names.latency.push_back(path.name);
      names.route_latency.push_back(path.latency + path.use.overhead);
    }
    for (const NetworkLink& link : network_.links()) names.link.push_back(link.name);
    return names;
  }

  const Nodes& nodes_;
  const step::Schedule& schedule_;
  Interconnect& network_;
  Connections& connections_;
  const std::vector<double>& slowness_;
  TimelineRecorder* recorder_;
  ComputeTime measured_;
  double begin_;
  EventGraph graph_;
  std::vector<sg4::Host*> hosts_;       ///< per node of the schedule
  std::vector<ComputeStream> streams_;  ///< per node
  std::vector<Operation> operations_;   ///< per task; empty where the task is no collective
  std::vector<std::size_t> next_send_;  ///< per node: the task that is its next or present collective with sending
  std::vector<bool> begun_ = std::vector<bool>(nodes_.hosts.size() + 1);  ///< per node: whether it has begun that
  std::vector<double> free_at_;                                           ///< per node: when the one before was done
  std::vector<EventId> free_by_;
  step::StepTiming timing_;
};

}  // namespace

// ---- the actors ----

class StepReplayer::Streams : public std::enable_shared_from_this<StepReplayer::Streams> {
 public:
  Streams(const Nodes& nodes, Interconnect& network, Connections& connections)
      : nodes_(nodes), network_(network), connections_(connections), actors_(nodes.hosts.size()) {}

  step::StepTiming replay(const collectives::RankLayout& layout, const step::Schedule& schedule,
                          const std::vector<double>& slowness, TimelineRecorder* recorder) {
    Replay step(nodes_, layout, schedule, network_, connections_, slowness, recorder);
    step.begin();
    step_ = &step;
    running_ = step.nodes();
    for (std::size_t node = 0; node < step.nodes(); ++node) {
      Actor& actor = actors_[step.host_index(node)];
      actor.node = node;
      if (!actor.go) make(actor, step.host_index(node));
      actor.go->release();
    }
    all_ended_->acquire();
    return step.end();
  }

 private:
  struct Actor {
    std::size_t node = 0;  ///< of the step
    sg4::SemaphorePtr go;  ///< null before it is first needed
  };

  void make(Actor& actor, std::size_t host) {
    actor.go = sg4::Semaphore::create(0);
    // What it uses lives as long as it does.
    const auto code = [this, self = shared_from_this(), &actor] {
      guarded([&] {
        for (;;) {
          actor.go->acquire();
          step_->compute_in_order(actor.node);
          if (--running_ == 0) all_ended_->release();
        }
      });
    };
    compat::add_actor(fmt::format("compute stream {}", host), nodes_.hosts[host], code)->daemonize();
  }

  const Nodes& nodes_;
  Interconnect& network_;
  Connections& connections_;
  std::vector<Actor> actors_;  ///< per host of the cluster
  Replay* step_ = nullptr;
  std::size_t running_ = 0;  ///< streams that have not ended
  sg4::SemaphorePtr all_ended_ = sg4::Semaphore::create(0);
};

StepReplayer::StepReplayer(const Nodes& nodes, Interconnect& network, Connections& connections)
    : streams_(std::make_shared<Streams>(nodes, network, connections)) {}

step::StepTiming StepReplayer::replay(const collectives::RankLayout& layout, const step::Schedule& schedule,
                                      const std::vector<double>& slowness, TimelineRecorder* recorder) {
  return streams_->replay(layout, schedule, slowness, recorder);
}

double replay(const Nodes& nodes, const collectives::Rounds& rounds, Connections& connections) {
  const double begin = now();
  double end = begin;
  EventGraph graph(begin);
  connections.number_aggregator(rounds.ranks(), rounds.ranks());
  CollectiveRun run(0, rounds, connections, graph,
                    [&end](collectives::Rank, double date, EventId, Outbox&) { end = std::max(end, date); });
  connections.on_arrival([&run](const Message& message, double date, std::int32_t bottleneck, Outbox& outbox) {
    run.arrived(message, date, bottleneck, outbox);
  });
  std::vector<sg4::ActorPtr> actors;
  actors.reserve(static_cast<std::size_t>(rounds.ranks()));
  for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
    actors.push_back(
        compat::add_actor(fmt::format("rank {}", rank), nodes.hosts[static_cast<std::size_t>(rank)], [&, rank] {
          guarded([&, rank] {
            Outbox outbox;
            run.begin(rank, begin, EventGraph::kStart, outbox);
            outbox.drain();
          });
        }));
  }
  for (const sg4::ActorPtr& actor : actors) actor->join();
  connections.wait_until_idle();
  return end - begin;
}

}  // namespace dadsim::sim
