#include "world/play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/human.hpp"
#include "world/strand.hpp"

namespace dadsim::world {

Play::Play(World& world, std::vector<std::string> names, Limits limits)
    : world_(world), names_(std::move(names)), limits_(std::move(limits)), nodes_(names_.size()) {
  log_.nodes.resize(names_.size());
}

Play::~Play() = default;

// ---- coroutines ----

void Play::join(Node node, std::string role, std::function<Task<>()> begin) {
  Strand& strand = *strands_.emplace_back(std::make_unique<Strand>());
  strand.node = node;
  strand.role = std::move(role);
  strand.begin = std::move(begin);
  nodes_[index(node)].strands.push_back(&strand);
  if (running_ && is_up(node)) this->begin(strand);
}

void Play::begin(Strand& strand) {
  strand.task = strand.begin();
  strand.ended = false;
  strand.waiting = Strand::Waiting::nothing;
  strand.handle = strand.task.handle();
  strand.since = now();
  ready(strand);
}

void Play::resume(Strand& strand) {
  strand.waiting = Strand::Waiting::nothing;
  current_ = &strand;
  strand.handle.resume();
  current_ = nullptr;
  if (strand.task.done()) {
    strand.ended = true;
    ++ended_;
    strand.task.rethrow();
  }
}

void Play::drain() {
  while (!ready_.empty() && !stopped_) {
    Strand* strand = ready_.front();
    ready_.pop_front();
    resume(*strand);
  }
}

void Play::progress() {
  last_progress_ = now();
  events_at_progress_ = log_.events;
}

void Play::run() {
  running_ = true;
  for (Node node = 0; node < static_cast<Node>(nodes()); ++node) {
    if (world_.is_up(node)) continue;
    went_down(node);
    --log_.nodes[index(node)].outages;  // it never was up
  }
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    if (is_up(strands_[i]->node)) begin(*strands_[i]);
  }
  try {
    play_on();
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

void Play::play_on() {
  // A message that has been under way for most of the time that a Play may stand still: its links are slow, and nobody
  // is stuck. Empty if there is none.
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
    if (stopped_ || ended_ == strands_.size()) break;
    const std::optional<Event> event = world_.next();
    if (!event) {
      if (const std::string slow = slow_message(kNever); !slow.empty()) throw Stuck(slow);
    }
    if (!event) throw Stuck("nothing is under way any more (deadlock): " + who_waits());
    ++log_.events;
    if (limits_.each_event) limits_.each_event(*this);
    if (event->at - last_progress_ > limits_.most_idle) {
      if (const std::string slow = slow_message(event->at); !slow.empty()) throw Stuck(slow);
      throw Stuck(fmt::format("nothing has been achieved for {} (starvation): {}",
                              human_seconds(event->at - last_progress_), who_waits()));
    }
    if (log_.events - events_at_progress_ > limits_.most_idle_events) {
      throw Stuck(
          fmt::format("nothing has been achieved in {} events (livelock): {}", limits_.most_idle_events, who_waits()));
    }
    handle(*event);
  }
}

void Play::handle(const Event& event) {
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
    Strand* strand = timer->second;
    timers_.erase(timer);
    strand->timer = 0;
    if (strand->receiver != nullptr) strand->receiver->got.arrived_at = event.at;
    strand->receiver = nullptr;
    ready(*strand);
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

Play::ComputeAwaiter Play::compute(Node node, Work work) { return {*this, node, {nullptr, std::move(work)}}; }

void Play::ComputeAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Strand& strand = *play.current_;
  strand.handle = handle;
  strand.waiting = Strand::Waiting::computing;
  strand.since = play.now();
  strand.computation = &own;
  own.strand = &strand;
  PerNode& at = play.nodes_[index(node)];
  at.queue.push_back(&own);
  if (at.computing == 0) play.start_computing(node);
}

void Play::start_computing(Node node) {
  PerNode& at = nodes_[index(node)];
  at.computing = 0;
  if (at.queue.empty()) return;
  Computation& next = *at.queue.front();
  next.begin = now();
  at.computing = world_.compute(node, next.work);
  computations_[at.computing] = node;
}

void Play::computed(Node node, bool done) {
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
             .what = own.strand->role,
             .failed = !done});
  own.strand->computation = nullptr;
  ready(*own.strand);
  start_computing(node);
}

void Play::cancel_computing(Node node) {
  PerNode& at = nodes_[index(node)];
  if (at.computing == 0) return;
  world_.cancel(at.computing);
  computations_.erase(at.computing);
  computed(node, false);
}

// ---- time ----

Play::SleepAwaiter Play::sleep(Node /*node*/, double seconds) { return {*this, seconds}; }

void Play::SleepAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Strand& strand = *play.current_;
  strand.handle = handle;
  strand.waiting = Strand::Waiting::sleeping;
  strand.since = play.now();
  strand.timer = play.world_.timer(std::max(0.0, seconds));
  play.timers_[strand.timer] = &strand;
}

// ---- messages ----

Activity Play::send(Node from, Node to, Channel channel, Parcel parcel, Channel news) {
  parcel.from = from;
  parcel.to = to;
  parcel.sent_at = now();
  step::EventLog::NodeUse& use = log_.nodes[index(from)];
  use.sent += parcel.bytes;
  ++use.messages;
  const Activity activity = world_.send(from, to, parcel.bytes);
  messages_[activity] = {std::move(parcel), channel, news};
  return activity;
}

void Play::arrived(Activity activity, bool failed) {
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
    log_.nodes[index(parcel.to)].received += parcel.bytes;
    deliver(parcel.to, message.channel, std::move(parcel));
    return;
  }
  use.lost += parcel.bytes;
  ++use.lost_messages;
  if (message.news.empty() || !is_up(parcel.from)) return;
  parcel.lost = true;
  const Node sender = parcel.from;
  parcel.from = parcel.to;  // as if the other end had said so
  deliver(sender, message.news, std::move(parcel));
}

void Play::deliver(Node node, Channel channel, Parcel parcel) {
  for (Strand* strand : nodes_[index(node)].strands) {
    if (strand->receiver == nullptr || strand->receiver->channel != channel) continue;
    strand->receiver->got = std::move(parcel);
    strand->receiver = nullptr;
    if (strand->timer != 0) {
      world_.cancel(strand->timer);
      timers_.erase(strand->timer);
      strand->timer = 0;
    }
    ready(*strand);
    return;
  }
  nodes_[index(node)].inbox[channel].push_back(std::move(parcel));
}

void Play::hand(Node to, Channel channel, Parcel parcel) {
  parcel.from = parcel.to = to;
  parcel.sent_at = parcel.arrived_at = now();
  deliver(to, channel, std::move(parcel));
}

void Play::cancel(Activity message) {
  if (!messages_.contains(message)) return;
  world_.cancel(message);
  arrived(message, true);
}

std::size_t Play::waiting(Node node, Channel channel) const {
  const auto& inbox = nodes_[index(node)].inbox;
  const auto found = inbox.find(channel);
  return found == inbox.end() ? 0 : found->second.size();
}

Play::ReceiveAwaiter Play::receive(Node node, Channel channel, double until) {
  return {*this, node, channel, until, {}};
}

bool Play::ReceiveAwaiter::await_ready() {
  std::deque<Parcel>& inbox = play.nodes_[index(node)].inbox[channel];
  if (!inbox.empty()) {
    got = std::move(inbox.front());
    inbox.pop_front();
    return true;
  }
  return until <= play.now();
}

void Play::ReceiveAwaiter::await_suspend(std::coroutine_handle<> handle) {
  Strand& strand = *play.current_;
  strand.handle = handle;
  strand.waiting = Strand::Waiting::receiving;
  strand.since = play.now();
  strand.receiver = this;
  if (until == kNever) return;
  strand.timer = play.world_.timer(until - play.now());
  play.timers_[strand.timer] = &strand;
}

// ---- what is told ----

void Play::take_down(step::EventLog::Span span) {
  if (log_.spans.size() < limits_.most_spans) {
    log_.spans.push_back(std::move(span));
  } else {
    ++log_.spans_left_out;
  }
}

}  // namespace dadsim::world
