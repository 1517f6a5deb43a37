#include "world/event_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/human.hpp"
#include "world/process.hpp"

namespace dadsim::world {

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
    --log_.nodes[index(node)].outages;  // it never was up
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
  using Cause = Deadlock::Cause;
  // A message that has been under way for most of the time that an EventLoop may stand still: its links are slow, and
  // nobody is stuck. Empty if there is none.
  const auto slow_message = [this](double at) -> std::string {
    const Underway* oldest = nullptr;
    for (const auto& [activity, message] : messages_) {
      if (oldest == nullptr || std::pair(message.parcel.sent_at, message.parcel.from) <
                                   std::pair(oldest->parcel.sent_at, oldest->parcel.from)) {
        oldest = &message;
      }
    }
    if (oldest == nullptr || at - oldest->parcel.sent_at < limits_.most_idle / 2) return {};
    return fmt::format("'{}' of {} from {} to {} takes more than {} on its links; faster links, or fewer bytes",
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
    if (!event) throw Deadlock(Cause::nothing_under_way, "nothing is under way any more (deadlock): " + who_waits());
    ++log_.events;
    if (limits_.each_event) limits_.each_event(*this);
    if (event->at - last_progress_ > limits_.most_idle) {
      if (const std::string slow = slow_message(event->at); !slow.empty()) throw Deadlock(Cause::slow_message, slow);
      throw Deadlock(Cause::starvation, fmt::format("nothing has been achieved for {} (starvation): {}",
                                                    human_seconds(event->at - last_progress_), who_waits()));
    }
    const std::int64_t of_links = limits_.link_outages ? limits_.link_outages() - link_outages_at_progress_ : 0;
    if (failures_since_progress_ > limits_.most_idle_failures * static_cast<std::int64_t>(nodes_.size()) ||
        of_links > limits_.most_idle_failures * static_cast<std::int64_t>(limits_.failing_links)) {
      throw Deadlock(
          Cause::starvation,
          fmt::format("nothing has been achieved through {} failures of hosts and messages and {} of links "
                      "in {} (starvation): {}",
                      failures_since_progress_, of_links, human_seconds(event->at - last_progress_), who_waits()));
    }
    if (log_.events - events_at_progress_ > limits_.most_idle_events) {
      throw Deadlock(Cause::livelock, fmt::format("nothing has been achieved in {} events (livelock): {}",
                                                  limits_.most_idle_events, who_waits()));
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
  Underway message = std::move(found->second);
  messages_.erase(found);
  Parcel& parcel = message.parcel;
  parcel.arrived_at = now();
  take_down({.kind = failed ? step::EventLog::Span::Kind::lost : step::EventLog::Span::Kind::send,
             .node = parcel.from,
             .peer = parcel.to,
             .begin = parcel.sent_at,
             .end = now(),
             .bytes = parcel.bytes,
             .number = parcel.number,
             .what = std::string(message.channel),
             .failed = failed});
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
  parcel.from = parcel.to;  // as if the other end had said so
  deliver(sender, message.news, std::move(parcel));
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

}  // namespace dadsim::world
