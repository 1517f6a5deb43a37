#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "protocols/local/local_rounds.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {
namespace {

/// Rounds at an aggregator or an object store, which hears from all workers. Workers train from a θ, send Δ_i, and get
/// the θ of a later round. The parameter `when` determines the end of a round. Δ is the mean of the round's Δ_i,
/// weighted by samples, each scaled by its staleness.
///
/// An aggregator takes the outer step and sends θ. A store computes nothing: each worker reads the other workers'
/// objects of all rounds since its last θ, and takes the outer steps itself.
///
/// With a barrier, a window or overlap, all workers take the same steps in a round. At its own pace (quorum,
/// asynchronous) each worker counts its own steps, until the workers together have taken the training's steps. With
/// overlap a worker holds two orders: it computes the second while its first Δ is under way, so every θ lacks the Δ of
/// one round.
///
/// A round does not wait for a worker that goes down. After an outage a worker takes part from the next round on, with
/// a new optimizer. Lost messages are sent again.
class ServerRounds final : public LocalRounds {
 public:
  explicit ServerRounds(const Setting& setting)
      : LocalRounds(setting),
        when_(setting.value(kWhen)),
        staleness_(setting.value(kStaleness)),
        clock_(rules_of(setting)),
        is_store_(setting.value(kTo) == SentTo::store),
        workers_(setting.sites) {}
  void begin() override {
    outer_ = outer_begin();
    setting().loop.join(setting().server, "server", [this] { return server(); });
    for (std::size_t number = 0; number < setting().sites; ++number) {
      setting().loop.watch(setting().server, node_of(number), kDelta);
      setting().loop.join(node_of(number), "worker", [this, number] { return worker(number); });
    }
  }

 private:
  static constexpr world::Channel kTheta = "weights";     ///< θ to workers, and notices for workers
  static constexpr world::Channel kDelta = "difference";  ///< Δ to the server, and notices for the server

  /// A worker's steps from one θ, in the server's view.
  struct Order {
    std::int64_t count = 0;    ///< number of steps
    std::int64_t version = 0;  ///< updates of the model before this θ
    double asked_at = 0;
    std::size_t known = 0;  ///< number of rounds whose objects the worker had read before (store)
    Parcel parcel;          ///< message with θ
    Value difference;       ///< received Δ
  };
  struct LocalWorker {
    Value own;            ///< weights and optimizer's state, as it has trained them
    Value memory;         ///< its compressor's memory
    Value theta;          ///< last θ that it received
    double messages = 0;  ///< rows that the worker must decode before it continues (store)
    double outer_steps = 0;
    // The server's view.
    std::map<std::int64_t, Order> orders;  ///< orders by first step
    std::int64_t next = 0;                 ///< next step of a worker that trains at its own pace
    std::size_t known = 0;                 ///< number of rounds whose objects the worker has read (store)
  };

  static world::ParticipationClock::Rules rules_of(const Setting& setting) {
    switch (setting.value(kWhen)) {
      case When::quorum:
        return {.enough = static_cast<std::size_t>(setting.value(kQuorum)), .grace = setting.value(kGrace)};
      case When::asynchronous:
        return {.enough = 1};
      case When::window:
        return {.deadline = setting.value(kWindow), .lasts = true};
      default:
        return {};
    }
  }
  /// Returns whether workers train at their own pace, so that their answers may be stale.
  bool at_own_pace() const { return when_ == When::quorum || when_ == When::asynchronous; }

  Task<> server() {
    world::EventLoop& loop = setting().loop;
    ProtocolLog& log = setting().log;
    const Node me = setting().server;
    later_.clear();
    if (log.versions.empty() && setting().new_version(theta(), 1)) co_return;
    for (;;) {
      order_round();
      log.set_at_work(loop.now(), static_cast<std::size_t>(std::ranges::count_if(
                                      workers_, [](const LocalWorker& worker) { return !worker.orders.empty(); })));
      co_await gather();
      // Sums in the order of workers, not of arrival.
      std::vector<Value> differences;
      std::vector<double> weights;
      std::vector<std::size_t> members;
      for (std::size_t number = 0; number < workers_.size(); ++number) {
        auto& orders = workers_[number].orders;
        const auto found = std::ranges::find_if(orders, [&](const auto& order) {
          return order.second.difference && (at_own_pace() || order.first == next_);
        });
        if (found == orders.end()) continue;
        const std::int64_t rounds = log.updates - found->second.version;
        const double factor = std::pow(1.0 + static_cast<double>(rounds), -staleness_);
        if (at_own_pace()) ++log.staleness[rounds];
        differences.push_back(factor == 1 ? found->second.difference
                                          : learning().weighted_sum({found->second.difference}, {factor}));
        weights.push_back(local().weight(number, found->first, found->second.count));
        members.push_back(number);
        orders.erase(found);
      }
      const bool window = when_ == When::window;
      if (differences.empty() && !window) {  // all workers are down: the round begins anew when one is back
        co_await loop.sleep(me, kRetrySeconds);
        continue;
      }
      if (!at_own_pace()) next_ += steps_of_round(next_);
      if (!differences.empty()) {
        const std::size_t count = differences.size();
        if (!is_store_) {
          Work work = setting().sizing.decode_by(encoding(), step::Role::aggregator, static_cast<double>(count)) +
                      mean_work(step::Role::aggregator, count) + outer_work(step::Role::aggregator);
          co_await loop.compute(me, std::move(work));
        }
        outer_ = outer_after(outer_, mean_of(differences, std::move(weights)), log.updates);
        if (is_store_) objects_.push_back(std::move(members));
        ++log.updates;
      }
      if ((!differences.empty() || is_last()) && setting().new_version(theta(), 1, is_last())) co_return;
    }
  }
  Task<> worker(std::size_t number) {
    world::EventLoop& loop = setting().loop;
    const Sizing& sizing = setting().sizing;
    const Node me = node_of(number);
    LocalWorker& own = workers_[number];
    own.own = local().initial();
    own.memory = own.theta = {};
    own.messages = own.outer_steps = 0;
    for (;;) {
      Parcel parcel = co_await loop.receive(me, kTheta);
      if (parcel.lost) {  // the worker's message to the server was lost
        co_await loop.sleep(me, kRetrySeconds);
        setting().send_again(me, setting().server, kDelta, std::move(parcel), kTheta);
        continue;
      }
      const std::int64_t first = parcel.number;
      const auto found = own.orders.find(first);
      if (found == own.orders.end()) continue;  // the order was withdrawn while the worker was down
      const std::int64_t count = found->second.count;
      const Value start = parcel.values.front();
      const double begin = loop.now();
      // Computing the difference reads two models and writes one.
      Work work = local().begin_training(number, first, count) + sizing.per_parameter(step::Role::workers, 1, 3) +
                  sizing.encode_by(encoding(), step::Role::workers) + merge_work();
      if (own.outer_steps > 0) {  // adds the work to read the store's objects
        const auto rows = static_cast<std::size_t>(own.messages + own.outer_steps);
        work = std::move(work) + sizing.decode_by(encoding(), step::Role::workers, own.messages) +
               mean_work(step::Role::workers, rows) + repeated(outer_work(step::Role::workers), own.outer_steps);
        own.messages = own.outer_steps = 0;
      }
      co_await loop.compute(me, std::move(work));
      const Value from = merged(own.own, own.theta, start);
      own.own = local().train(number, from, first, count);
      own.theta = start;
      // With overlap, the received θ lacks the worker's previous Δ, so the change is measured from the merged weights.
      const Value before = when_ == When::overlap ? learning().without_state(from) : start;
      Value moved = learning().difference(before, learning().without_state(own.own));
      Parcel answer{.values = {encoded(moved, own.memory, number, first)}, .bytes = row_bytes(), .number = first};
      answer.work = loop.now() - begin;
      loop.send(me, setting().server, kDelta, std::move(answer), kTheta);
    }
  }
  /// Handles messages until the round is over.
  Task<> gather() {
    world::EventLoop& loop = setting().loop;
    const auto awaited = [&] {
      return static_cast<std::size_t>(
          std::ranges::count_if(workers_, [this](const LocalWorker& worker) { return is_awaited(worker); }));
    };
    clock_.begin(loop.now());
    while (!clock_.is_over(loop.now(), answered(), awaited())) {
      Parcel parcel = co_await loop.receive(setting().server, kDelta, std::min(later_.next(), clock_.date(answered())));
      while (const auto due = later_.take(loop.now())) {
        const auto to = static_cast<std::size_t>(due->from);
        const auto found = workers_[to].orders.find(due->number);
        if (found == workers_[to].orders.end() || found->second.difference) continue;
        ++setting().log.retried;
        ask(to, found->second);
      }
      if (parcel.from >= 0 && !parcel.back) take(std::move(parcel));
    }
  }
  void take(Parcel parcel) {
    ProtocolLog& log = setting().log;
    const auto from = static_cast<std::size_t>(parcel.from);
    LocalWorker& worker = workers_[from];
    if (parcel.gone) return left(worker);
    const auto found = worker.orders.find(parcel.number);
    if (found == worker.orders.end() || found->second.difference) return;
    if (parcel.lost) {  // the lost message was a θ for the worker
      later_.add(setting().loop.now() + kRetrySeconds, {.number = parcel.number, .from = parcel.from});
    } else if (when_ == When::window && parcel.number != next_) {
      ++log.late;
      log.wasted_seconds += parcel.work;
      log.wasted_bytes += parcel.bytes;
      record(from, found->second, ProtocolLog::Part::End::late);
      worker.orders.erase(found);
    } else {
      found->second.difference = std::move(parcel.values.front());
      log.count_used(from);
      record(from, found->second, ProtocolLog::Part::End::used);
    }
  }
  void left(LocalWorker& worker) {
    for (auto at = worker.orders.begin(); at != worker.orders.end();) {
      if (at->second.difference) {
        ++at;
        continue;
      }
      given_out_ -= at->second.count;
      worker.known = std::min(worker.known, at->second.known);
      ++setting().log.failed;
      record(static_cast<std::size_t>(&worker - workers_.data()), at->second, ProtocolLog::Part::End::failed);
      at = worker.orders.erase(at);
    }
  }
  void order(std::size_t number, std::int64_t first) {
    const std::int64_t count = steps_of_order(first), version = setting().log.updates;
    if (count <= 0) return;
    given_out_ += count;
    const std::size_t known = workers_[number].known;
    const double bytes = version == 0 ? 0 : is_store_ ? bytes_of_objects(number) : plain_bytes();
    const Order& made =
        workers_[number].orders[first] = {.count = count,
                                          .version = version,
                                          .asked_at = setting().loop.now(),
                                          .known = known,
                                          .parcel = {.values = {theta()}, .bytes = bytes, .number = first},
                                          .difference = {}};
    workers_[number].next = first + count;
    ++setting().log.asked;
    ask(number, made);
  }
  /// Sends orders for this round, and with overlap for the next, to every worker that is up and has no such order.
  void order_round() {
    const bool overlaps = when_ == When::overlap;
    const std::int64_t second = next_ + steps_of_round(next_);
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      LocalWorker& worker = workers_[number];
      if (!setting().loop.is_up(node_of(number))) continue;
      if (at_own_pace() || when_ == When::window) {
        if (worker.orders.empty()) order(number, at_own_pace() ? worker.next : next_);
        continue;
      }
      if (worker.orders.empty()) order(number, next_);
      if (overlaps && !worker.orders.contains(second) && second < local().steps()) order(number, second);
    }
  }
  /// Sends an order. The first θ needs no message, because all workers start from the same weights.
  void ask(std::size_t number, const Order& order) {
    if (order.version == 0) {
      setting().loop.hand(node_of(number), kTheta, order.parcel);
    } else {
      setting().loop.send(setting().server, node_of(number), kTheta, order.parcel, kDelta);
    }
  }
  /// Returns the bytes of the objects that other workers have stored since the worker's last θ, and counts these
  /// objects as read by the worker.
  double bytes_of_objects(std::size_t number) {
    LocalWorker& worker = workers_[number];
    std::int64_t objects = 0;
    for (; worker.known < objects_.size(); ++worker.known) {
      const std::vector<std::size_t>& of_round = objects_[worker.known];
      objects += std::ssize(of_round) - std::ranges::count(of_round, number);
      worker.outer_steps += 1;
    }
    worker.messages += static_cast<double>(objects);
    return static_cast<double>(objects) * row_bytes();
  }
  void record(std::size_t number, const Order& order, ProtocolLog::Part::End end) {
    ProtocolLog& log = setting().log;
    log.note({log.updates + 1, node_of(number), order.asked_at, setting().loop.now(), end});
  }
  bool is_awaited(const LocalWorker& worker) const {
    return std::ranges::any_of(worker.orders, [&](const auto& order) {
      return !order.second.difference && (at_own_pace() || order.first == next_);
    });
  }
  std::size_t answered() const {
    return static_cast<std::size_t>(std::ranges::count_if(workers_, [](const LocalWorker& worker) {
      return std::ranges::any_of(worker.orders,
                                 [](const auto& order) { return static_cast<bool>(order.second.difference); });
    }));
  }
  /// Returns the number of steps of an order. Workers at their own pace share the steps of the whole training; each has
  /// one shorter round, which ends where its own share would.
  std::int64_t steps_of_order(std::int64_t first) const {
    if (!at_own_pace()) return steps_of_round(first);
    const std::int64_t left = local().steps() * static_cast<std::int64_t>(workers_.size()) - given_out_;
    return std::min(left, first < local().steps() ? steps_of_round(first) : local().period_from(first));
  }
  bool is_last() const {
    if (!at_own_pace()) return next_ >= local().steps();
    return given_out_ >= local().steps() * static_cast<std::int64_t>(workers_.size()) &&
           std::ranges::all_of(workers_, [](const LocalWorker& worker) { return worker.orders.empty(); });
  }
  Value theta() const { return theta_of(outer_); }

  When when_;
  double staleness_;
  world::ParticipationClock clock_;
  bool is_store_;
  std::vector<LocalWorker> workers_;
  Value outer_;
  std::int64_t next_ = 0;                          ///< first step of the present round
  std::int64_t given_out_ = 0;                     ///< steps of all orders, except failed ones
  std::vector<std::vector<std::size_t>> objects_;  ///< workers whose objects count, per round (store)
  SendLater later_;
};

}  // namespace

std::unique_ptr<Protocol> server_rounds(const Setting& setting) { return std::make_unique<ServerRounds>(setting); }

}  // namespace dadsim::protocols
