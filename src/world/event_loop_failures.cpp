#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "support/human.hpp"
#include "world/process.hpp"

namespace dadsim::world {

// ---- failures ----

void EventLoop::watch(Node watcher, Node watched, Channel channel) {
  nodes_[index(watched)].watchers.emplace_back(watcher, channel);
}

void EventLoop::went_down(Node node) {
  PerNode& at = nodes_[index(node)];
  if (at.restoring != 0) {  // and has to begin with that anew
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
  // The news that what it computes has failed comes later, and finds nobody.
  if (at.computing != 0) {
    log_.nodes[index(node)].busy += now() - at.queue.front()->begin;
    log_.nodes[index(node)].cut_short += now() - at.queue.front()->begin;
    computations_.erase(at.computing);
    if (at.writing) world_.cancel(at.computing);  // a wait, which does not fail
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

/// A computation, or the writing of a checkpoint after one, has ended. True if a checkpoint is to be written now.
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
    std::string what = "is about to go on";
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
