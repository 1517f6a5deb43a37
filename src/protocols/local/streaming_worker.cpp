#include <utility>

#include "protocols/local/streaming_diloco.hpp"

// The workers' side of Streaming DiLoCo.

namespace dadsim::protocols {

using world::Node;
using world::Parcel;
using world::Task;
using world::Value;
using world::Work;

void StreamingDiLoCo::send_again(std::size_t number, Parcel parcel) {
  ++setting_.log.retried;
  Parcel again{.values = std::move(parcel.values), .bytes = parcel.bytes, .number = parcel.number};
  setting_.loop.send(node_of(number), setting_.server, kOuter, std::move(again), kFragment);
}

/// A worker that is back has no weights: it gets those of the server, and the step that the others are at.
Task<> StreamingDiLoCo::ask_for_all(std::size_t number, std::int64_t& step) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  loop.send(me, setting_.server, kOuter, {}, kAll);
  for (;;) {
    Parcel parcel = co_await loop.receive(me, kAll, loop.now() + 60 * kRetrySeconds);
    if (parcel.gone) continue;
    if (parcel.from < 0 || parcel.lost || parcel.back) {
      co_await loop.sleep(me, kRetrySeconds);
      ++setting_.log.retried;
      loop.send(me, setting_.server, kOuter, {}, kAll);
      continue;
    }
    Worker& own = workers_[number];
    own.base = std::move(parcel.values);
    for (std::size_t p = 0; p < fragments_.size(); ++p) own.own = mixed(p, own.own, own.base[p], 0);
    step = parcel.number;
    co_return;
  }
}

/// What is to be computed for sending after a step: differences, and their encoding.
Work StreamingDiLoCo::sending_work(std::int64_t step) const {
  double share = 0;
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    if (is_sent(p, step)) share += fragments_[p].share;
  }
  if (share == 0) return {};
  return share_of(setting_.sizing.per_parameter(step::Role::workers, 1, 3) +
                      setting_.sizing.encode_by(compress_, step::Role::workers),
                  share);
}

void StreamingDiLoCo::send_difference(std::size_t number, std::size_t p, std::int64_t name) {
  Worker& own = workers_[number];
  const Fragment& fragment = fragments_[p];
  const Value moved = setting_.learning.difference(own.base[p], taken_from(p, own.own));
  Learning::Sent sent = setting_.learning.send(moved, own.memory[p], compress_, static_cast<std::uint32_t>(number),
                                               static_cast<std::uint32_t>(name), fragment.sizes);
  own.memory[p] = sent.memory;
  ++setting_.log.asked;
  Parcel parcel{.values = {std::move(sent.arrives)}, .bytes = fragment.bytes_up, .number = name};
  setting_.loop.send(node_of(number), setting_.server, kOuter, std::move(parcel), kFragment);
}

/// Hears what has arrived, and waits until a synchronisation's fragment, or a later one of the same, is there.
Task<> StreamingDiLoCo::hear(std::size_t number, std::int64_t name) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  Worker& own = workers_[number];
  const auto is_there = [&] {
    const auto found = own.arrived.find(fragment_of(name));
    return found != own.arrived.end() && found->second.first >= name;
  };
  while (loop.waiting(me, kFragment) > 0 || !is_there()) {
    Parcel parcel = co_await loop.receive(me, kFragment);
    if (parcel.lost) {  // what was sent
      co_await loop.sleep(me, kRetrySeconds);
      send_again(number, std::move(parcel));
      continue;
    }
    own.arrived[fragment_of(parcel.number)] = {parcel.number, std::move(parcel.values.front())};
  }
}

/// The fragment that has arrived becomes part of the worker's weights, if it is newer than the one there. What that
/// costs: mixing reads two rows and writes one.
Work StreamingDiLoCo::take_in(std::size_t number, std::size_t p) {
  Worker& own = workers_[number];
  const auto found = own.arrived.find(p);
  if (found == own.arrived.end() || found->second.first <= own.have[p]) return {};
  own.have[p] = found->second.first;
  own.base[p] = found->second.second;
  own.own = mixed(p, own.own, own.base[p], alpha_);
  own.arrived.erase(found);
  return share_of(setting_.sizing.per_parameter(step::Role::workers, 3, 3), fragments_[p].share);
}

Task<> StreamingDiLoCo::worker(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  Worker& own = workers_[number];
  std::int64_t step = 0;
  own.own = local_.initial();
  own.memory.assign(fragments_.size(), {});
  own.have.assign(fragments_.size(), -1);
  own.arrived.clear();
  if (std::exchange(own.started, true)) {
    co_await ask_for_all(number, step);
  } else {
    own.base.clear();
    for (std::size_t p = 0; p < fragments_.size(); ++p) own.base.push_back(theta(p));
  }
  std::deque<Due> due;
  Work owed;
  while (step < local_.steps()) {
    const std::int64_t next = next_stop(step, due);
    Work work = local_.begin_training(number, step, next - step) + std::exchange(owed, {}) + sending_work(next);
    co_await loop.compute(me, std::move(work));
    own.own = local_.train(number, own.own, step, next - step);
    step = next;
    // Before the last parts are sent, all that is on its way is taken in: it would be counted twice.
    const bool last = step == local_.steps();
    for (; !due.empty() && (last || due.front().at <= step); due.pop_front()) {
      co_await hear(number, due.front().sync);
      owed = std::move(owed) + take_in(number, fragment_of(due.front().sync));
    }
    for (std::size_t p = 0; p < fragments_.size(); ++p) {
      if (!is_sent(p, step)) continue;
      owed = std::move(owed) + take_in(number, p);  // what came unasked, to one that was away
      send_difference(number, p, name_of(step, p));
      if (!last) due.push_back({step + delay_, name_of(step, p)});
    }
    for (; delay_ == 0 && !due.empty(); due.pop_front()) {
      co_await hear(number, due.front().sync);
      owed = std::move(owed) + take_in(number, fragment_of(due.front().sync));
    }
  }
  for (;;) {  // what is lost of the last parts is sent again
    Parcel parcel = co_await loop.receive(me, kFragment);
    if (!parcel.lost) continue;
    co_await loop.sleep(me, kRetrySeconds);
    send_again(number, std::move(parcel));
  }
}

}  // namespace dadsim::protocols
