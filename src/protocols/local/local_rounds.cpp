#include "protocols/local/local_rounds.hpp"

#include <algorithm>
#include <utility>

namespace dadsim::protocols {

using world::Node;
using world::Parcel;
using world::Task;
using world::Value;
using world::Work;

namespace {

constexpr world::Channel kTheta = "weights";     // to workers, and news for them
constexpr world::Channel kDelta = "difference";  // to the server, and news for it

Node local_node(std::size_t number) { return static_cast<Node>(number); }

}  // namespace

LocalRounds::LocalRounds(const Setting& setting) : setting_(setting), local_(setting), workers_(setting.sites) {}

void LocalRounds::begin() {
  setting_.log.took_part.assign(setting_.sites, 0);
  outer_ = outer_begin(learning().without_state(local_.initial()));
  setting_.loop.join(setting_.server, "server", [this] { return server(); });
  for (std::size_t number = 0; number < setting_.sites; ++number) {
    setting_.loop.watch(setting_.server, local_node(number), kDelta);
    setting_.loop.join(local_node(number), "worker", [this, number] { return worker(number); });
  }
}

std::int64_t LocalRounds::steps_of_round(std::int64_t first) const {
  return std::min(local_.period(), local_.steps() - first);
}

Value LocalRounds::outer_step(const Value& outer, const Value& difference) {
  return learning().difference(outer, difference);
}

Value LocalRounds::theta() const { return first_numbers(learning().history(), outer_, learning().state()); }

// ---- the server ----

/// All workers start from the same weights.
void LocalRounds::ask(std::size_t number) {
  Parcel order{.values = {theta()}, .bytes = setting_.sizing.plain_bytes(), .number = next_};
  if (next_ == 0) {
    order.bytes = 0;
    setting_.loop.hand(local_node(number), kTheta, std::move(order));
  } else {
    setting_.loop.send(setting_.server, local_node(number), kTheta, std::move(order), kDelta);
  }
}

/// Until all awaited answers are there.
Task<> LocalRounds::gather() {
  world::EventLoop& loop = setting_.loop;
  ProtocolLog& log = setting_.log;
  while (std::ranges::any_of(workers_, &LocalWorker::awaited)) {
    Parcel parcel = co_await loop.receive(setting_.server, kDelta, later_.next());
    while (const auto due = later_.take(loop.now())) {
      const auto to = static_cast<std::size_t>(due->from);
      if (due->number != next_ || !workers_[to].awaited) continue;
      ++log.retried;
      ask(to);
    }
    if (parcel.from < 0 || parcel.back) continue;
    LocalWorker& worker = workers_[static_cast<std::size_t>(parcel.from)];
    if (!worker.awaited) continue;
    if (parcel.lost) {  // the weights that it was to get
      later_.add(loop.now() + kRetrySeconds, {.number = parcel.number, .from = parcel.from});
      continue;
    }
    if (!parcel.gone && parcel.number != next_) continue;
    worker.awaited = false;
    if (parcel.gone) {
      ++log.failed;
    } else {
      ++log.answered;
      ++log.took_part[static_cast<std::size_t>(parcel.from)];
      worker.difference = std::move(parcel.values.front());
    }
    if (log.parts.size() < ProtocolLog::kMostParts) {
      log.parts.push_back({log.updates + 1, parcel.from, worker.asked_at, loop.now(),
                           parcel.gone ? ProtocolLog::Part::End::failed : ProtocolLog::Part::End::used});
    }
  }
}

Task<> LocalRounds::server() {
  world::EventLoop& loop = setting_.loop;
  ProtocolLog& log = setting_.log;
  const Node me = setting_.server;
  later_.clear();
  if (log.versions.empty() && setting_.new_version(theta(), 1)) co_return;
  for (;;) {
    const std::int64_t count = steps_of_round(next_);
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      LocalWorker& worker = workers_[number];
      worker.difference = {};
      worker.awaited = loop.is_up(local_node(number));
      if (!worker.awaited) continue;
      worker.asked_at = loop.now();
      ++log.asked;
      ask(number);
    }
    log.set_at_work(loop.now(), static_cast<std::size_t>(std::ranges::count(workers_, true, &LocalWorker::awaited)));
    co_await gather();
    // In the order of workers, not of arrival.
    std::vector<Value> differences;
    std::vector<double> weights;
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      if (!workers_[number].difference) continue;
      differences.push_back(std::exchange(workers_[number].difference, {}));
      weights.push_back(local_.weight(number, next_, count));
    }
    if (differences.empty()) {  // all are down: the round begins anew when someone is back
      co_await loop.sleep(me, kRetrySeconds);
      continue;
    }
    Work work = setting_.sizing.decode(step::Role::aggregator, static_cast<double>(differences.size())) +
                setting_.sizing.sum(step::Role::aggregator, differences.size()) + outer_work();
    co_await loop.compute(me, std::move(work));
    outer_ = outer_step(outer_, weighted_mean(learning(), differences, std::move(weights)));
    next_ += count;
    ++log.updates;
    if (setting_.new_version(theta(), 1, next_ >= local_.steps())) co_return;
  }
}

// ---- workers ----

Task<> LocalRounds::worker(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const Node me = local_node(number);
  LocalWorker& own = workers_[number];
  own.own = local_.initial();
  own.memory = {};
  for (;;) {
    Parcel parcel = co_await loop.receive(me, kTheta);
    if (parcel.lost) {  // its own message was lost
      co_await loop.sleep(me, kRetrySeconds);
      ++setting_.log.retried;
      Parcel again{.values = std::move(parcel.values), .bytes = parcel.bytes, .number = parcel.number};
      loop.send(me, setting_.server, kDelta, std::move(again), kTheta);
      continue;
    }
    const std::int64_t first = parcel.number;
    const std::int64_t count = steps_of_round(first);
    const Value start = parcel.values.front();
    const double begin = loop.now();
    // The difference reads two models and writes one.
    Work work = local_.begin_training(number, first, count) + setting_.sizing.per_parameter(step::Role::workers, 1, 3) +
                setting_.sizing.encode(step::Role::workers);
    co_await loop.compute(me, std::move(work));
    own.own = local_.train(number, local_.with_state_of(start, own.own), first, count);
    Value moved = learning().difference(start, learning().without_state(own.own));
    Learning::SentValue sent = learning().send(moved, own.memory, setting_.run.compress,
                                               static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(first));
    own.memory = sent.memory;
    Parcel answer{.values = {std::move(sent.arrives)}, .bytes = setting_.sizing.model_bytes(), .number = first};
    answer.work = loop.now() - begin;
    loop.send(me, setting_.server, kDelta, std::move(answer), kTheta);
  }
}

}  // namespace dadsim::protocols
