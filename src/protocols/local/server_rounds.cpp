#include <algorithm>
#include <utility>

#include "protocols/local/local_rounds.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {
namespace {

/// Rounds with a barrier at a server: all workers train from the same θ, send Δ_i, and get the new θ when all of them
/// have arrived, however late the last is. Δ is the mean of the Δ_i, weighted by the samples of the round.
///
/// A worker that goes down is not waited for; when it is back it takes part from the next round on, its optimizer begun
/// anew. What is lost on the way is sent again.
class ServerRounds final : public LocalRounds {
 public:
  explicit ServerRounds(const Setting& setting) : LocalRounds(setting), workers_(setting.sites) {}
  void begin() override;

 private:
  static constexpr world::Channel kTheta = "weights";     ///< to workers, and news for them
  static constexpr world::Channel kDelta = "difference";  ///< to the server, and news for it

  struct LocalWorker {
    Value own;     ///< weights and optimizer's state, as it has trained them
    Value memory;  ///< its compressor's memory
    Value theta;   ///< the last that it got
    // The server's view of the present round.
    bool awaited = false;
    double asked_at = 0;
    Value difference;  ///< received difference
  };

  Task<> server();
  Task<> worker(std::size_t number);
  Task<> gather();
  void ask(std::size_t number);
  Value theta() const { return theta_of(outer_); }

  std::vector<LocalWorker> workers_;
  Value outer_;
  std::int64_t next_ = 0;  ///< first step of the present round
  SendLater later_;
};

void ServerRounds::begin() {
  setting().log.took_part.assign(setting().sites, 0);
  outer_ = outer_begin();
  setting().loop.join(setting().server, "server", [this] { return server(); });
  for (std::size_t number = 0; number < setting().sites; ++number) {
    setting().loop.watch(setting().server, node_of(number), kDelta);
    setting().loop.join(node_of(number), "worker", [this, number] { return worker(number); });
  }
}

// ---- the server ----

/// All workers start from the same weights.
void ServerRounds::ask(std::size_t number) {
  Parcel order{.values = {theta()}, .bytes = plain_bytes(), .number = next_};
  if (next_ == 0) {
    order.bytes = 0;
    setting().loop.hand(node_of(number), kTheta, std::move(order));
  } else {
    setting().loop.send(setting().server, node_of(number), kTheta, std::move(order), kDelta);
  }
}

/// Until all awaited answers are there.
Task<> ServerRounds::gather() {
  world::EventLoop& loop = setting().loop;
  ProtocolLog& log = setting().log;
  while (std::ranges::any_of(workers_, &LocalWorker::awaited)) {
    Parcel parcel = co_await loop.receive(setting().server, kDelta, later_.next());
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

Task<> ServerRounds::server() {
  world::EventLoop& loop = setting().loop;
  ProtocolLog& log = setting().log;
  const Node me = setting().server;
  later_.clear();
  if (log.versions.empty() && setting().new_version(theta(), 1)) co_return;
  for (;;) {
    const std::int64_t count = steps_of_round(next_);
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      LocalWorker& worker = workers_[number];
      worker.difference = {};
      worker.awaited = loop.is_up(node_of(number));
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
      weights.push_back(local().weight(number, next_, count));
    }
    if (differences.empty()) {  // all are down: the round begins anew when someone is back
      co_await loop.sleep(me, kRetrySeconds);
      continue;
    }
    Work work =
        setting().sizing.decode_by(encoding(), step::Role::aggregator, static_cast<double>(differences.size())) +
        setting().sizing.sum(step::Role::aggregator, differences.size()) + outer_work(step::Role::aggregator);
    co_await loop.compute(me, std::move(work));
    outer_ = outer_after(outer_, mean_of(differences, std::move(weights)), log.updates);
    next_ += count;
    ++log.updates;
    if (setting().new_version(theta(), 1, next_ >= local().steps())) co_return;
  }
}

// ---- workers ----

Task<> ServerRounds::worker(std::size_t number) {
  world::EventLoop& loop = setting().loop;
  const Node me = node_of(number);
  LocalWorker& own = workers_[number];
  own.own = local().initial();
  own.memory = own.theta = {};
  for (;;) {
    Parcel parcel = co_await loop.receive(me, kTheta);
    if (parcel.lost) {  // its own message was lost
      co_await loop.sleep(me, kRetrySeconds);
      ++setting().log.retried;
      Parcel again{.values = std::move(parcel.values), .bytes = parcel.bytes, .number = parcel.number};
      loop.send(me, setting().server, kDelta, std::move(again), kTheta);
      continue;
    }
    const std::int64_t first = parcel.number;
    const std::int64_t count = steps_of_round(first);
    const Value start = parcel.values.front();
    const double begin = loop.now();
    // The difference reads two models and writes one.
    Work work = local().begin_training(number, first, count) +
                setting().sizing.per_parameter(step::Role::workers, 1, 3) +
                setting().sizing.encode_by(encoding(), step::Role::workers) + merge_work();
    co_await loop.compute(me, std::move(work));
    own.own = local().train(number, merged(own.own, own.theta, start), first, count);
    own.theta = start;
    Value moved = learning().difference(start, learning().without_state(own.own));
    Parcel answer{.values = {encoded(moved, own.memory, number, first)}, .bytes = row_bytes(), .number = first};
    answer.work = loop.now() - begin;
    loop.send(me, setting().server, kDelta, std::move(answer), kTheta);
  }
}

}  // namespace

std::unique_ptr<Protocol> server_rounds(const Setting& setting) { return std::make_unique<ServerRounds>(setting); }

}  // namespace dadsim::protocols
