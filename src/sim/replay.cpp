#include "sim/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <variant>

#include "sim/device.hpp"
#include "sim/event_graph.hpp"

namespace dadsim {
namespace {

namespace sg4 = simgrid::s4u;
using EventId = EventGraph::Id;

double now() { return sg4::Engine::get_clock(); }

/// Opens once; carries the event whose end opened it. Waited for by at most one actor. Actors take turns (one thread),
/// so that plain flags do.
class Latch {
 public:
  bool is_open() const { return open_; }
  EventId cause() const { return cause_; }
  void open(EventId cause) {
    open_ = true;
    cause_ = cause;
    if (waiter_ != nullptr) waiter_->release();
  }
  /// Stands still until the latch is open. `semaphore` is the calling actor's own, with no permits.
  void wait(sg4::Semaphore& semaphore) {
    if (open_) return;
    waiter_ = &semaphore;
    semaphore.acquire();
  }

 private:
  bool open_ = false;
  EventId cause_ = EventGraph::start;
  sg4::Semaphore* waiter_ = nullptr;
};

/// One of a node's streams: an actor that does one thing after another. `cause` is the event whose end let it come to
/// where it is now; that event ends exactly now.
struct Stream {
  EventId cause = EventGraph::start;
  sg4::SemaphorePtr semaphore = sg4::Semaphore::create(0);

  void wait(Latch& latch) {
    if (latch.is_open()) return;
    latch.wait(*semaphore);
    cause = latch.cause();
  }
};

/// A transfer that both its ends look at.
struct Message {
  std::size_t from = 0, to = 0;  ///< nodes
  double bytes = 0;
  EventId event = EventGraph::start;  ///< once it is under way
  std::vector<std::int32_t> on_entry;
  EventId ready_cause = EventGraph::start;
  bool one_end_ready = false;
};

/// A collective in progress.
struct Operation {
  const CollectiveTask* task = nullptr;
  std::vector<Latch> issued;      ///< per node: the compute stream has reached it
  std::vector<Latch> done;        ///< per node: its part is over
  std::vector<Message> messages;  ///< gather, broadcast: per worker; rings: per step and sender
};

class Replay {
 public:
  Replay(const Nodes& nodes, const Schedule& schedule, Traffic& traffic)
      : nodes_(nodes), schedule_(schedule), traffic_(traffic), begin_(now()), graph_(begin_) {
    const std::size_t count = schedule_.workers + (schedule_.uses_aggregator ? 1 : 0);
    streams_.resize(count);
    for (std::size_t i = 0; i < count; ++i) streams_[i].host = nodes_.hosts[host_index(i)];
    timing_.bytes_sent.assign(count, 0.0);
    timing_.bytes_received.assign(count, 0.0);
    operations_.resize(schedule_.tasks.size());
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      if (const auto* task = std::get_if<CollectiveTask>(&schedule_.tasks[i].what)) prepare(i, *task);
    }
  }

  StepTiming run() {
    std::vector<sg4::ActorPtr> actors;
    const auto add = [&](std::size_t node, const char* stream, void (Replay::*code)(std::size_t)) {
      actors.push_back(
          compat::add_actor(fmt::format("{} of node {}", stream, node), streams_[node].host, [this, node, code] {
            try {
              (this->*code)(node);
            } catch (const std::exception& error) {
              // What the other streams wait for will not come any more: say why, and end the process.
              std::fprintf(stderr, "%s\n", error.what());
              std::fflush(stderr);
              std::_Exit(1);
            }
          }));
    };
    for (std::size_t node = 0; node < streams_.size(); ++node) {
      if (receives_[is_worker(node) ? 0 : 1]) add(node, "inbound lane", &Replay::receive_in_order);
      if (sends_[is_worker(node) ? 0 : 1]) add(node, "outbound lane", &Replay::send_in_order);
      add(node, "compute stream", &Replay::compute_in_order);
    }
    for (const sg4::ActorPtr& actor : actors) actor->join();

    std::size_t last = 0;
    for (std::size_t worker = 1; worker < schedule_.workers; ++worker) {
      if (streams_[worker].end > streams_[last].end) last = worker;
    }
    timing_.seconds = streams_[last].end - begin_;
    timing_.compute_seconds = std::min(streams_[last].busy, timing_.seconds);
    timing_.exposed_seconds = timing_.seconds - timing_.compute_seconds;
    timing_.bounds = graph_.critical_path(streams_[last].compute.cause, names());
    return timing_;
  }

 private:
  struct NodeStreams {
    sg4::Host* host = nullptr;
    Stream compute, outbound, inbound;
    double busy = 0;  ///< seconds of the compute stream
    double end = 0;   ///< of the compute stream
  };

  bool is_worker(std::size_t node) const { return node < schedule_.workers; }
  std::size_t aggregator() const { return schedule_.workers; }
  std::size_t host_index(std::size_t node) const { return is_worker(node) ? node : nodes_.workers; }
  bool takes_part(std::size_t node, Role who) const { return is_worker(node) == (who == Role::workers); }
  static bool is_ring(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather;
  }

  void prepare(std::size_t index, const CollectiveTask& task) {
    Operation& operation = operations_[index];
    const std::size_t workers = schedule_.workers;
    operation.task = &task;
    operation.issued.resize(streams_.size());
    operation.done.resize(streams_.size());
    switch (task.kind) {
      case CollectiveKind::gather:
        for (std::size_t worker = 0; worker < workers; ++worker) {
          operation.messages.push_back(
              {.from = worker, .to = aggregator(), .bytes = task.bytes[worker], .on_entry = {}});
        }
        sends_[0] = receives_[1] = true;
        break;
      case CollectiveKind::broadcast:
        for (std::size_t worker = 0; worker < workers; ++worker) {
          operation.messages.push_back({.from = aggregator(), .to = worker, .bytes = task.bytes[0], .on_entry = {}});
        }
        sends_[1] = receives_[0] = true;
        break;
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_gather: {
        // Ring: in step k worker w sends on to w + 1 the block that it got in step k - 1, beginning with its own (w -
        // k).
        const bool reduce = task.kind == CollectiveKind::all_reduce;
        const std::size_t steps = (reduce ? 2 : 1) * (workers - 1);
        for (std::size_t step = 0; step < steps; ++step) {
          for (std::size_t worker = 0; worker < workers; ++worker) {
            const std::size_t block = (worker + workers - step % workers) % workers;
            const double bytes = reduce ? task.bytes[0] / static_cast<double>(workers) : task.bytes[block];
            operation.messages.push_back(
                {.from = worker, .to = (worker + 1) % workers, .bytes = bytes, .on_entry = {}});
          }
        }
        sends_[0] = true;
        break;
      }
    }
  }

  // ---- the streams of a node, one actor each ----

  void compute_in_order(std::size_t node) {
    NodeStreams& own = streams_[node];
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const Task& task = schedule_.tasks[i];
      if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
        if (takes_part(node, compute->who)) execute(node, *compute);
      } else if (std::holds_alternative<CollectiveTask>(task.what)) {
        operations_[i].issued[node].open(own.compute.cause);
      } else if (const auto* wait = std::get_if<WaitTask>(&task.what); takes_part(node, wait->who)) {
        own.compute.wait(operations_[static_cast<std::size_t>(wait->collective)].done[node]);
      }
    }
    own.end = now();
  }

  void execute(std::size_t node, const ComputeTask& task) {
    NodeStreams& own = streams_[node];
    const std::size_t entry = is_worker(node) ? node : 0;
    const double seconds = seconds_on(*nodes_.devices[host_index(node)], task.phase, task.flops[entry],
                                      task.bytes_moved[entry], task.launches[entry]);
    if (seconds <= 0) return;
    const double begin = now();
    sg4::this_actor::execute(seconds * own.host->get_speed());
    own.busy += now() - begin;
    own.compute.cause = graph_.add_computation(static_cast<std::int32_t>(node), begin, now(), own.compute.cause);
  }

  void send_in_order(std::size_t node) {
    Stream& lane = streams_[node].outbound;
    for (Operation& operation : operations_) {
      if (operation.task == nullptr) continue;
      const CollectiveKind kind = operation.task->kind;
      if (is_worker(node) == (kind == CollectiveKind::broadcast)) continue;  // sent by others
      lane.wait(operation.issued[node]);
      if (kind == CollectiveKind::gather) {
        Message& message = operation.messages[node];
        const sg4::CommPtr sending = put(message, lane.cause);
        sending->wait();
        arrived(message);
        lane.cause = message.event;
      } else if (kind == CollectiveKind::broadcast) {
        std::vector<sg4::CommPtr> sending;
        for (Message& message : operation.messages) sending.push_back(put(message, lane.cause));
        for (std::size_t i = 0; i < sending.size(); ++i) {
          sending[i]->wait();
          arrived(operation.messages[i]);
        }
        lane.cause = last_of(operation.messages, lane.cause);
      } else {
        go_round(operation, node, lane);
      }
      operation.done[node].open(lane.cause);
    }
  }

  /// A worker's part of a ring.
  void go_round(Operation& operation, std::size_t worker, Stream& lane) {
    const std::size_t workers = schedule_.workers;
    const std::size_t before = (worker + workers - 1) % workers;
    for (std::size_t first = 0; first < operation.messages.size(); first += workers) {
      Message& incoming = operation.messages[first + before];
      Message& outgoing = operation.messages[first + worker];
      // The receiver must have come to this step as well: whoever is second starts the message.
      sg4::CommPtr receiving = mailbox(incoming)->get_async(&received_);
      meet(incoming, lane.cause);
      const sg4::CommPtr sending = start_sending(outgoing);
      meet(outgoing, lane.cause);
      receiving->wait();
      arrived(incoming);
      sending->wait();
      arrived(outgoing);
      lane.cause = graph_.later(incoming.event, outgoing.event);
    }
  }

  /// Gathers and broadcasts are received without being asked for: everything is posted at the start.
  void receive_in_order(std::size_t node) {
    std::vector<std::pair<Operation*, std::vector<std::pair<Message*, sg4::CommPtr>>>> posted;
    for (Operation& operation : operations_) {
      if (operation.task == nullptr || is_ring(operation.task->kind)) continue;
      if (is_worker(node) != (operation.task->kind == CollectiveKind::broadcast)) continue;
      auto& parts = posted.emplace_back(&operation, std::vector<std::pair<Message*, sg4::CommPtr>>{}).second;
      for (Message& message : operation.messages) {
        if (message.to == node) parts.emplace_back(&message, mailbox(message)->get_async(&received_));
      }
    }
    for (auto& [operation, parts] : posted) {
      EventId last = EventGraph::start;
      for (auto& [message, receiving] : parts) {
        receiving->wait();
        arrived(*message);
        last = graph_.later(last, message->event);
      }
      operation->done[node].open(last);
    }
  }

  // ---- messages ----

  /// One mailbox per ordered pair of nodes and direction of use; messages of a pair keep their order.
  sg4::Mailbox* mailbox(const Message& message) {
    const std::size_t nodes = streams_.size();
    if (mailboxes_.empty()) mailboxes_.resize(nodes * nodes);
    sg4::Mailbox*& found = mailboxes_[message.from * nodes + message.to];
    if (found == nullptr) found = sg4::Mailbox::by_name(fmt::format("{}>{}", message.from, message.to));
    return found;
  }

  sg4::CommPtr start_sending(const Message& message) {
    sg4::CommPtr sending = mailbox(message)->put_init(&token_, 0);
    sending->set_remaining(message.bytes);  // the size as it is: put_init would cut it to whole bytes
    compat::start(sending);
    timing_.bytes_sent[message.from] += message.bytes;
    return sending;
  }

  /// Sends to a node that is ready.
  sg4::CommPtr put(Message& message, EventId cause) {
    begin_message(message, cause);
    return start_sending(message);
  }

  /// One end has come to the message; it is under way when both have.
  void meet(Message& message, EventId cause) {
    if (message.one_end_ready) {
      begin_message(message, graph_.later(message.ready_cause, cause));
    } else {
      message.one_end_ready = true;
      message.ready_cause = cause;
    }
  }

  void begin_message(Message& message, EventId cause) {
    const std::int32_t route = traffic_.route(streams_[message.from].host, streams_[message.to].host);
    message.event = graph_.add_message(route, now(), cause);
    message.on_entry = traffic_.enter(route);
  }

  /// To be called by both ends; the first to see it is there at the instant of the arrival.
  void arrived(const Message& message) {
    if (graph_.ended(message.event)) return;
    graph_.end(message.event, now());
    const std::int32_t route = traffic_.route(streams_[message.from].host, streams_[message.to].host);
    graph_.set_bottleneck(message.event, traffic_.leave(route, message.on_entry));
    timing_.bytes_received[message.to] += message.bytes;
  }

  EventId last_of(const std::vector<Message>& messages, EventId otherwise) const {
    EventId last = otherwise;
    for (const Message& message : messages) last = graph_.later(last, message.event);
    return last;
  }

  EventGraph::Names names() const {
    EventGraph::Names names;
    for (std::size_t node = 0; node < streams_.size(); ++node) {
      names.computation.push_back(
          fmt::format("{} ({})", streams_[node].host->get_cname(), nodes_.devices[host_index(node)]->name));
    }
    names.latency = traffic_.latency_names();
    names.route_latency = traffic_.latencies();
    names.link = traffic_.link_names();
    return names;
  }

  const Nodes& nodes_;
  const Schedule& schedule_;
  Traffic& traffic_;
  double begin_;
  EventGraph graph_;
  std::vector<NodeStreams> streams_;          ///< per node
  std::vector<Operation> operations_;         ///< per task; empty where the task is no collective
  std::array<bool, 2> sends_{}, receives_{};  ///< whether workers, the aggregator do
  std::vector<sg4::Mailbox*> mailboxes_;
  StepTiming timing_;
  char token_ = 0;  ///< what messages carry: only their size counts
  char* received_ = nullptr;
};

}  // namespace

StepTiming replay(const Nodes& nodes, const Schedule& schedule, Traffic& traffic) {
  return Replay(nodes, schedule, traffic).run();
}

}  // namespace dadsim
