#include "world/event_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/human.hpp"

namespace dadsim::world {

/// A coroutine, and the event that it waits for.
struct EventLoop::Process {
  Node node = -1;
  std::string role;
  std::function<Task<>()> begin;
  Task<> task;
  bool ended = false;

  enum class Waiting : std::uint8_t { nothing, computing, sleeping, receiving };
  Waiting waiting = Waiting::nothing;
  std::coroutine_handle<> handle;  ///< coroutine to resume, which may be nested in the task
  double since = 0;
  Activity timer = 0;                  ///< timer of a coroutine that sleeps, or that receives until a date
  ReceiveAwaiter* receiver = nullptr;  ///< receive for which the coroutine waits
  Computation* computation = nullptr;  ///< computation that the coroutine waits for
};

EventLoop::EventLoop(World& world, std::vector<std::string> names, Limits limits)
    : world_(world), names_(std::move(names)), limits_(std::move(limits)), nodes_(names_.size()) {
  log_.nodes.resize(names_.size());
}

EventLoop::~EventLoop() = default;

// ---- coroutines ----

void EventLoop::join(Node node, std::string role, std::function<Task<>()> begin) {
  Process& process = *processes_.emplace_back(std::make_unique<Process>());
  process.node = node;
  process.role = std::move(role);
  process.begin = std::move(begin);
  nodes_[index(node)].processes.push_back(&process);
  if (running_ && is_up(node)) this->begin(process);
}

void EventLoop::begin(Process& process) {
  process.task = process.begin();
  process.ended = false;
  process.waiting = Process::Waiting::nothing;
  process.handle = process.task.handle();
  process.since = now();
  ready(process);
}

void EventLoop::resume(Process& process) {
  process.waiting = Process::Waiting::nothing;
  current_ = &process;
  process.handle.resume();
  current_ = nullptr;
  if (process.task.done()) {
    process.ended = true;
    ++ended_;
    process.task.rethrow();
  }
}

void EventLoop::drain() {
  while (!ready_.empty() && !stopped_) {
    Process* process = ready_.front();
    ready_.pop_front();
    resume(*process);
  }
}

void EventLoop::progress() {
  last_progress_ = now();
  events_at_progress_ = log_.events;
  failures_since_progress_ = 0;
  if (limits_.link_outages) link_outages_at_progress_ = limits_.link_outages();
}

void EventLoop::run() {
  running_ = true;
  for (Node node = 0; node < static_cast<Node>(nodes()); ++node) {
    if (world_.is_up(node)) continue;
    went_down(node);
    --log_.nodes[index(node)].outages;  // first start: no outage precedes it
  }
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (is_up(processes_[i]->node)) begin(*processes_[i]);
  }
  try {
    run_ready();
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

void EventLoop::run_ready() {
  using Cause = Deadlock::DeadlockCause;
  // Returns words about the message that has been in transit longest, if that is at least half of the allowed time
  // without progress: its links are slow, and there is no deadlock. Returns an empty text if there is none.
  const auto slow_message = [this](double at) -> std::string {
    const TaskUnderway* oldest = nullptr;
    for (const auto& [activity, message] : messages_) {
      if (oldest == nullptr || std::pair(message.parcel.sent_at, message.parcel.from) <
                                   std::pair(oldest->parcel.sent_at, oldest->parcel.from)) {
        oldest = &message;
      }
    }
    if (oldest == nullptr || at - oldest->parcel.sent_at < limits_.most_idle / 2) return {};
    return fmt::format("'{}' of {} from {} to {} takes more than {} on its links; use faster links, or fewer bytes",
                       oldest->channel, human_bytes(oldest->parcel.bytes), name(oldest->parcel.from),
                       name(oldest->parcel.to), human_seconds(limits_.most_idle / 2));
  };
  for (;;) {
    drain();
    if (stopped_ || ended_ == processes_.size()) break;
    const std::optional<Event> event = world_.next();
    if (!event) {
      if (const std::string slow = slow_message(kNever); !slow.empty()) throw Deadlock(Cause::slow_message, slow);
    }
    if (!event) throw Deadlock(Cause::nothing_under_way, "no event is pending (deadlock): " + who_waits());
    ++log_.events;
    if (limits_.each_event) limits_.each_event(*this);
    if (event->at - last_progress_ > limits_.most_idle) {
      if (const std::string slow = slow_message(event->at); !slow.empty()) throw Deadlock(Cause::slow_message, slow);
      throw Deadlock(Cause::starvation, fmt::format("no progress for {} (starvation): {}",
                                                    human_seconds(event->at - last_progress_), who_waits()));
    }
    const std::int64_t of_links = limits_.link_outages ? limits_.link_outages() - link_outages_at_progress_ : 0;
    if (failures_since_progress_ > limits_.most_idle_failures * static_cast<std::int64_t>(nodes_.size()) ||
        of_links > limits_.most_idle_failures * static_cast<std::int64_t>(limits_.failing_links)) {
      throw Deadlock(
          Cause::starvation,
          fmt::format("no progress in {2} (starvation), after {0} failures of hosts and messages and {1} failures of "
                      "links: {3}",
                      failures_since_progress_, of_links, human_seconds(event->at - last_progress_), who_waits()));
    }
    if (log_.events - events_at_progress_ > limits_.most_idle_events) {
      throw Deadlock(Cause::livelock,
                     fmt::format("no progress in {} events (livelock): {}", limits_.most_idle_events, who_waits()));
    }
    handle(*event);
  }
}

void EventLoop::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::host_down:
      went_down(event.node);
      return;
    case Event::Kind::host_up:
      came_up(event.node);
      return;
    case Event::Kind::done:
    case Event::Kind::failed:
      break;
  }
  if (const auto timer = timers_.find(event.activity); timer != timers_.end()) {
    Process* process = timer->second;
    timers_.erase(timer);
    process->timer = 0;
    if (process->receiver != nullptr) process->receiver->got.arrived_at = event.at;
    process->receiver = nullptr;
    ready(*process);
  } else if (const auto computing = computations_.find(event.activity); computing != computations_.end()) {
    const Node node = computing->second;
    computations_.erase(computing);
    if (event.kind == Event::Kind::done && begin_checkpoint(node)) return;
    computed(node, event.kind == Event::Kind::done);
  } else if (messages_.contains(event.activity)) {
    arrived(event.activity, event.kind == Event::Kind::failed);
  } else if (collectives_.contains(event.activity)) {
    collective_ended(event.activity, event.kind == Event::Kind::failed);
  } else if (const auto restoring = restoring_.find(event.activity); restoring != restoring_.end()) {
    const Node node = restoring->second;
    restoring_.erase(restoring);
    take_part(node);
  }
}

// ---- computing ----

EventLoop::ComputeAwaiter EventLoop::compute(Node node, Work work) { return {*this, node, {nullptr, std::move(work)}}; }

void EventLoop::ComputeAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Process& process = *loop.current_;
  process.handle = handle;
  process.waiting = Process::Waiting::computing;
  process.since = loop.now();
  process.computation = &own;
  own.process = &process;
  PerNode& at = loop.nodes_[index(node)];
  at.queue.push_back(&own);
  if (at.computing == 0) loop.start_computing(node);
}

void EventLoop::start_computing(Node node) {
  PerNode& at = nodes_[index(node)];
  at.computing = 0;
  if (at.queue.empty()) return;
  Computation& next = *at.queue.front();
  next.begin = now();
  at.computing = world_.compute(node, next.work);
  computations_[at.computing] = node;
}

void EventLoop::computed(Node node, bool done) {
  PerNode& at = nodes_[index(node)];
  Computation& own = *at.queue.front();
  at.queue.pop_front();
  own.done = done;
  step::EventLog::NodeUse& use = log_.nodes[index(node)];
  use.busy += now() - own.begin;
  if (!done) use.cut_short += now() - own.begin;
  take_down({.kind = step::EventLog::Span::Kind::compute,
             .node = node,
             .begin = own.begin,
             .end = now(),
             .number = own.work.step,
             .what = own.process->role,
             .failed = !done});
  own.process->computation = nullptr;
  ready(*own.process);
  start_computing(node);
}

void EventLoop::cancel_computing(Node node) {
  PerNode& at = nodes_[index(node)];
  if (at.computing == 0) return;
  world_.cancel(at.computing);
  computations_.erase(at.computing);
  computed(node, false);
}

// ---- time ----

EventLoop::SleepAwaiter EventLoop::sleep(Node /*node*/, double seconds) { return {*this, seconds}; }

void EventLoop::SleepAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Process& process = *loop.current_;
  process.handle = handle;
  process.waiting = Process::Waiting::sleeping;
  process.since = loop.now();
  process.timer = loop.world_.timer(std::max(0.0, seconds));
  loop.timers_[process.timer] = &process;
}

// ---- messages ----

namespace {

/// Returns the log's span for a parcel that has arrived, or was lost.
step::EventLog::Span span_of(const Parcel& parcel, Channel channel, bool failed) {
  return {.kind = failed ? step::EventLog::Span::Kind::lost : step::EventLog::Span::Kind::send,
          .node = parcel.from,
          .peer = parcel.to,
          .begin = parcel.sent_at,
          .end = parcel.arrived_at,
          .bytes = parcel.bytes,
          .number = parcel.number,
          .what = std::string(channel),
          .failed = failed};
}

}  // namespace

Activity EventLoop::send(Node from, Node to, Channel channel, Parcel parcel, Channel news) {
  parcel.from = from;
  parcel.to = to;
  parcel.sent_at = now();
  step::EventLog::NodeUse& use = log_.nodes[index(from)];
  use.sent += parcel.bytes;
  ++use.messages;
  if (limits_.each_send) limits_.each_send(parcel);
  const Activity activity = world_.send(from, to, parcel.bytes);
  messages_[activity] = {std::move(parcel), channel, news};
  return activity;
}

void EventLoop::arrived(Activity activity, bool failed) {
  const auto found = messages_.find(activity);
  TaskUnderway message = std::move(found->second);
  messages_.erase(found);
  Parcel& parcel = message.parcel;
  parcel.arrived_at = now();
  take_down(span_of(parcel, message.channel, failed));
  step::EventLog::NodeUse& use = log_.nodes[index(parcel.from)];
  if (!failed) {
    const Node to = parcel.to;
    log_.nodes[index(to)].received += parcel.bytes;
    deliver(to, message.channel, std::move(parcel));
    return;
  }
  use.lost += parcel.bytes;
  ++use.lost_messages;
  ++failures_since_progress_;
  if (message.news.empty() || !is_up(parcel.from)) return;
  parcel.lost = true;
  const Node sender = parcel.from;
  parcel.from = parcel.to;  // a notice names the other end of the connection as its sender
  deliver(sender, message.news, std::move(parcel));
}

Activity EventLoop::collective(Collective what, Channel channel, std::vector<Parcel> parcels) {
  CollectiveTraffic traffic;
  const Activity activity = world_.collective(what, traffic);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Parcel& parcel = parcels[i];
    parcel.from = what.nodes[i];
    parcel.to = what.nodes[(i + 1) % what.nodes.size()];
    parcel.sent_at = now();
    parcel.bytes = traffic.sent[i];
    step::EventLog::NodeUse& use = log_.nodes[index(parcel.from)];
    use.sent += parcel.bytes;
    ++use.messages;
    if (limits_.each_send) limits_.each_send(parcel);
  }
  collectives_[activity] = {std::move(what), std::move(traffic), std::move(parcels), channel};
  return activity;
}

void EventLoop::collective_ended(Activity activity, bool failed) {
  const auto found = collectives_.find(activity);
  CollectiveUnderway one = std::move(found->second);
  collectives_.erase(found);
  if (failed) ++failures_since_progress_;
  for (std::size_t i = 0; i < one.parcels.size(); ++i) {
    Parcel& parcel = one.parcels[i];
    parcel.arrived_at = now();
    parcel.lost = failed;
    take_down(span_of(parcel, one.channel, failed));
    const Node node = parcel.from;
    step::EventLog::NodeUse& use = log_.nodes[index(node)];
    if (failed) {
      use.lost += parcel.bytes;
      ++use.lost_messages;
    } else {
      use.received += one.traffic.received[i];
    }
    if (is_up(node)) deliver(node, one.channel, std::move(parcel));
  }
}

void EventLoop::deliver(Node node, Channel channel, Parcel parcel) {
  for (Process* process : nodes_[index(node)].processes) {
    if (process->receiver == nullptr || process->receiver->channel != channel) continue;
    process->receiver->got = std::move(parcel);
    process->receiver = nullptr;
    if (process->timer != 0) {
      world_.cancel(process->timer);
      timers_.erase(process->timer);
      process->timer = 0;
    }
    ready(*process);
    return;
  }
  nodes_[index(node)].inbox[channel].push_back(std::move(parcel));
}

void EventLoop::hand(Node to, Channel channel, Parcel parcel) {
  parcel.from = parcel.to = to;
  parcel.sent_at = parcel.arrived_at = now();
  deliver(to, channel, std::move(parcel));
}

void EventLoop::cancel(Activity message) {
  if (!messages_.contains(message)) return;
  world_.cancel(message);
  arrived(message, true);
}

std::size_t EventLoop::waiting(Node node, Channel channel) const {
  const auto& inbox = nodes_[index(node)].inbox;
  const auto found = inbox.find(channel);
  return found == inbox.end() ? 0 : found->second.size();
}

EventLoop::ReceiveAwaiter EventLoop::receive(Node node, Channel channel, double until) {
  return {*this, node, channel, until, {}};
}

bool EventLoop::ReceiveAwaiter::await_ready() {
  std::list<Parcel>& inbox = loop.nodes_[index(node)].inbox[channel];
  if (!inbox.empty()) {
    got = std::move(inbox.front());
    inbox.pop_front();
    return true;
  }
  return until <= loop.now();
}

void EventLoop::ReceiveAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Process& process = *loop.current_;
  process.handle = handle;
  process.waiting = Process::Waiting::receiving;
  process.since = loop.now();
  process.receiver = this;
  if (until == kNever) return;
  process.timer = loop.world_.timer(until - loop.now());
  loop.timers_[process.timer] = &process;
}

// ---- what is told ----

void EventLoop::take_down(step::EventLog::Span span) {
  if (log_.spans.size() < limits_.most_spans) {
    log_.spans.push_back(std::move(span));
  } else {
    ++log_.spans_left_out;
  }
}

// ---- failures ----

void EventLoop::watch(Node watcher, Node watched, Channel channel) {
  nodes_[index(watched)].watchers.emplace_back(watcher, channel);
}

void EventLoop::went_down(Node node) {
  PerNode& at = nodes_[index(node)];
  if (at.restoring != 0) {  // the restore starts again once the node is up
    world_.cancel(at.restoring);
    restoring_.erase(at.restoring);
    at.restoring = 0;
    ++log_.nodes[index(node)].outages;
    ++failures_since_progress_;
  }
  if (!at.up) return;
  at.up = false;
  at.down_since = now();
  ++log_.nodes[index(node)].outages;
  ++failures_since_progress_;
  // Drops the node's computation. The World reports its failure later, which is then ignored.
  if (at.computing != 0) {
    log_.nodes[index(node)].busy += now() - at.queue.front()->begin;
    log_.nodes[index(node)].cut_short += now() - at.queue.front()->begin;
    computations_.erase(at.computing);
    if (at.writing) world_.cancel(at.computing);  // a checkpoint is a timer, which does not fail by itself
  }
  at.computing = 0;
  at.writing = false;
  at.queue.clear();
  at.inbox.clear();
  for (Process* process : at.processes) {
    if (process->timer != 0) {
      world_.cancel(process->timer);
      timers_.erase(process->timer);
      process->timer = 0;
    }
    process->receiver = nullptr;
    process->computation = nullptr;
    std::erase(ready_, process);
    process->task = {};
    process->waiting = Process::Waiting::nothing;
  }
  for (const auto& [watcher, channel] : at.watchers) {
    if (is_up(watcher)) deliver(watcher, channel, {.from = node, .to = watcher, .gone = true, .arrived_at = now()});
  }
}

void EventLoop::came_up(Node node) {
  PerNode& at = nodes_[index(node)];
  if (at.up || at.restoring != 0) return;
  if (at.checkpoints.every == 0) {
    take_part(node);
    return;
  }
  at.restoring = world_.timer(at.checkpoints.restore + at.since_checkpoint);
  restoring_[at.restoring] = node;
}

void EventLoop::take_part(Node node) {
  PerNode& at = nodes_[index(node)];
  at.up = true;
  if (std::exchange(at.restoring, 0) != 0) {
    step::EventLog::NodeUse& use = log_.nodes[index(node)];
    ++use.restored;
    use.lost_work += at.since_checkpoint;
  }
  was_down(node);
  for (Process* process : at.processes) {
    if (!process->ended) begin(*process);
  }
  for (const auto& [watcher, channel] : at.watchers) {
    if (is_up(watcher)) deliver(watcher, channel, {.from = node, .to = watcher, .back = true, .arrived_at = now()});
  }
}

/// Handles the end of a computation, or of the checkpoint after it. Returns true if a checkpoint must be written now.
bool EventLoop::begin_checkpoint(Node node) {
  PerNode& at = nodes_[index(node)];
  const double every = at.checkpoints.every;
  if (every == 0) return false;
  if (at.writing) {
    at.writing = false;
    at.since_checkpoint = std::fmod(at.since_checkpoint, every);
    return false;
  }
  at.since_checkpoint += now() - at.queue.front()->begin;
  const double due = std::floor(at.since_checkpoint / every);
  if (due == 0) return false;
  at.writing = true;
  log_.nodes[index(node)].checkpointing += due * at.checkpoints.write;
  at.computing = world_.timer(due * at.checkpoints.write);
  computations_[at.computing] = node;
  return true;
}

void EventLoop::was_down(Node node) {
  const double since = nodes_[index(node)].down_since;
  log_.nodes[index(node)].down += now() - since;
  take_down({.kind = step::EventLog::Span::Kind::down, .node = node, .begin = since, .end = now(), .what = "down"});
  if (log_.outages.size() < step::EventLog::kMostOutages) log_.outages.push_back({node, since, now()});
}

void EventLoop::finish() {
  running_ = false;
  log_.seconds = now();
  for (const auto& [activity, message] : messages_) log_.nodes[index(message.parcel.from)].lost += message.parcel.bytes;
  for (const auto& [activity, one] : collectives_) {
    for (const Parcel& parcel : one.parcels) log_.nodes[index(parcel.from)].lost += parcel.bytes;
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    step::EventLog::NodeUse& use = log_.nodes[node];
    if (!nodes_[node].up) was_down(static_cast<Node>(node));
    if (nodes_[node].computing == 0) continue;
    const double begun = now() - nodes_[node].queue.front()->begin;
    use.busy += begun;
    use.cut_short += begun;
  }
}

std::string EventLoop::who_waits() const {
  constexpr std::size_t kMostNamed = 8;
  std::string words;
  std::size_t named = 0;
  std::size_t others = 0;
  std::size_t down = 0;
  for (const PerNode& node : nodes_) down += node.up ? 0 : 1;
  for (const auto& process : processes_) {
    if (process->ended || !is_up(process->node)) continue;
    if (named == kMostNamed) {
      ++others;
      continue;
    }
    std::string what = "is ready to continue";
    if (process->waiting == Process::Waiting::receiving) {
      what = fmt::format("waits for '{}' since {}", process->receiver != nullptr ? process->receiver->channel : "",
                         human_seconds(process->since));
    } else if (process->waiting == Process::Waiting::computing) {
      what = fmt::format("computes since {}", human_seconds(process->since));
    } else if (process->waiting == Process::Waiting::sleeping) {
      what = fmt::format("sleeps since {}", human_seconds(process->since));
    }
    words += fmt::format("{}{} ({}) {}", named++ == 0 ? "" : "; ", name(process->node), process->role, what);
  }
  if (others > 0) words += fmt::format("; and {} more", others);
  if (down > 0) words += fmt::format("{}{} of {} nodes are down", words.empty() ? "" : "; ", down, nodes_.size());
  return words.empty() ? "nobody waits" : words;
}

}  // namespace dadsim::world
