#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "algorithms/gossip/graph.hpp"
#include "protocols/local/local_rounds.hpp"
#include "protocols/send_later.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {
namespace {

/// Rounds with partners: the neighbours in a graph, or one worker drawn for the round. Every worker i has its own θ_i.
/// It takes an outer step with its own change, sends the resulting p_i to its partners, and mixes:
///   θ_i ← p_i − α Σ_j w_ij (p_i − p_j),  w_ij = 1 / (1 + the larger number of partners of i and j)
/// The mean of all θ_i is then the mean of all p_i (in the spirit of GASLoC, arXiv 2606.11081). A rule of groups
/// (NoLoCo) uses the mean of θ and Δ over the worker and its partners instead, and workers send both.
///
/// With mixing="factored" (in the spirit of Factored Gossip DiLoCo, arXiv 2606.22768) a worker also sends θ_i before
/// the local steps. After them it takes θ_i ← θ_i − α Σ_j w_ij (θ_i − θ_j) over the θ_j that have arrived by then.
///
/// A worker waits only for those of its partners that are up. After an outage it continues with its last weights, one
/// round after the most advanced worker. The mean of all θ_i is evaluated.
class PartnerRounds final : public LocalRounds {
 public:
  explicit PartnerRounds(const Setting& setting)
      : LocalRounds(setting),
        pairs_(setting.value(kTo) == SentTo::pair),
        factored_(setting.value(kMixing)),
        strength_(setting.value(kMix)),
        workers_(setting.sites) {
    if (pairs_) return;
    graph_.resize(setting.sites);
    const step::Neighbours graph =
        algorithms::graphs().at(setting.value(algorithms::kGraph)).make(setting.sites, setting.seed());
    for (std::size_t from = 0; from < graph.to.size(); ++from) {
      for (const std::int32_t to : graph.to[from]) {
        graph_[from].insert(static_cast<std::size_t>(to));
        graph_[static_cast<std::size_t>(to)].insert(from);
      }
    }
  }
  void begin() override {
    world::EventLoop& loop = setting().loop;
    for (Partner& worker : workers_) {
      worker.own = local().initial();
      worker.outer = outer_begin();
    }
    if (setting().new_version(mean(), 1)) return;
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      for (std::size_t other = 0; other < workers_.size(); ++other) {
        if (other != number && (pairs_ || graph_[number].contains(other)))
          loop.watch(node_of(number), node_of(other), kProposal);
      }
      loop.join(node_of(number), "worker", [this, number] { return worker(number); });
      loop.join(node_of(number), "sends again", [this, number] {
        return sends_again(number, kProposal, kNews, [this](const Parcel& rows) {
          return workers_[static_cast<std::size_t>(rows.from)].first <= rows.number;
        });
      });
    }
  }

 private:
  static constexpr world::Channel kProposal = "proposal";    ///< rows of partners, and notices about partners
  static constexpr world::Channel kNews = "news";            ///< notices of lost messages
  static constexpr world::Channel kBeginning = "beginning";  ///< θ of neighbours at the beginning of a round

  /// Rows by sender and first step of the round.
  using Rows = std::map<std::pair<world::Node, std::int64_t>, std::vector<Value>>;

  struct Partner {
    Value own;                ///< weights and optimizer's state
    Value outer;              ///< θ_i, followed by the state of the outer rule
    std::int64_t first = 0;   ///< first step of its present round
    std::int64_t since = 0;   ///< first step of its first round after the last outage
    std::int64_t rounds = 0;  ///< number of rounds before the present one
    bool started = false;
    Rows arrived;
    Rows beginnings;  ///< θ of neighbours at the beginning of a round
  };

  /// Returns the partners of a worker in a round. For random pairs, all workers shuffle the same list, and neighbours
  /// in the list become partners. With an odd number, one worker has none.
  std::vector<std::size_t> partners_of(std::size_t number, std::int64_t first) const {
    if (!pairs_) return {graph_[number].begin(), graph_[number].end()};
    std::vector<std::size_t> order(workers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomStream random(setting().seed(), Purpose::gossip_graph, 2, static_cast<std::uint32_t>(first));
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
    }
    const auto at = static_cast<std::size_t>(std::ranges::find(order, number) - order.begin());
    const std::size_t other = at ^ std::size_t{1};
    return other < order.size() ? std::vector{order[other]} : std::vector<std::size_t>();
  }
  Value mean() const {
    std::vector<Value> models;
    for (const Partner& worker : workers_) models.push_back(theta_of(worker.outer));
    return weighted_mean(learning(), models, std::vector<double>(models.size(), 1));
  }
  bool over() const {
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      if (workers_[number].first < local().steps() && setting().loop.is_up(node_of(number))) return false;
    }
    return true;
  }
  /// Updates the number of rounds that every worker now up has finished. Returns true if the number has grown.
  bool is_round_over() {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      if (setting().loop.is_up(node_of(number))) least = std::min(least, workers_[number].rounds);
    }
    const std::int64_t before = std::exchange(setting().log.updates, std::max(setting().log.updates, least));
    return setting().log.updates > before;
  }
  Task<> worker(std::size_t number) {
    world::EventLoop& loop = setting().loop;
    ProtocolLog& log = setting().log;
    const Sizing& sizing = setting().sizing;
    Partner& me = workers_[number];
    if (std::exchange(me.started, true)) {
      me.own = local().with_state_of(theta_of(me.outer), local().initial());
      me.arrived.clear();
      me.beginnings.clear();
      ++log.failed;
      for (std::size_t other = 0; other < workers_.size(); ++other) {
        if (!loop.is_up(node_of(other)) || workers_[other].first <= me.first) continue;
        me.first = workers_[other].first;
        me.rounds = workers_[other].rounds;
      }
      if (me.first < local().steps()) {  // skips the current round: some partners already train without this worker
        me.first += steps_of_round(me.first);
        ++me.rounds;
      }
      me.since = me.first;
    }
    const double rows_sent = rule().is_of_groups ? 2 : 1;
    while (me.first < local().steps()) {
      const std::int64_t count = steps_of_round(me.first);
      const std::vector<std::size_t> partners = partners_of(number, me.first);
      ++log.asked;
      Value beginning;  // θ as neighbours receive it
      if (factored_ && !partners.empty()) {
        Value none;
        beginning = encoded(theta_of(me.outer), none, number + 2 * workers_.size(), me.first);
        co_await loop.compute(node_of(number), sizing.encode_by(encoding(), step::Role::workers));
        send(number, partners, kBeginning, {beginning});
      }
      Work work = local().begin_training(number, me.first, count) + sizing.per_parameter(step::Role::workers, 1, 3) +
                  repeated(sizing.encode_by(encoding(), step::Role::workers), rows_sent);
      if (!rule().is_of_groups) work = std::move(work) + outer_work(step::Role::workers);
      co_await loop.compute(node_of(number), std::move(work));
      me.own = local().train(number, me.own, me.first, count);
      const Value theta = theta_of(me.outer);
      const Value moved = learning().difference(theta, learning().without_state(me.own));
      if (factored_ && !partners.empty()) co_await mix_beginnings(number, partners, beginning);
      std::vector<Value> rows{moved, theta};
      if (!rule().is_of_groups) {
        me.outer = outer_after(me.outer, moved, me.rounds);
        rows = {theta_of(me.outer)};
      }
      const Value proposal = rows[0];
      // Drops the compression error, because the next message has other weights.
      for (std::size_t row = 0; row < rows.size() && !partners.empty(); ++row) {
        Value none;
        rows[row] = encoded(rows[row], none, number + row * workers_.size(), me.first);
      }
      send(number, partners, kProposal, rows, kNews);
      co_await gather(number, partners);
      Work made =
          repeated(sizing.decode_by(encoding(), step::Role::workers, static_cast<double>(partners.size())), rows_sent) +
          repeated(sizing.sum(step::Role::workers, 1 + partners.size()), rows_sent);
      if (rule().is_of_groups) made = std::move(made) + outer_work(step::Role::workers);
      co_await loop.compute(node_of(number), std::move(made));
      combine(number, partners, rows, proposal);
      me.first += count;
      ++me.rounds;
      log.count_used(number);
      if (const bool ended = is_round_over(), last = over(); (ended || last) && setting().new_version(mean(), 1, last))
        co_return;
    }
    // The last worker that is still at work ends the simulation, unless it fails.
    while (!over()) co_await loop.sleep(node_of(number), kRetrySeconds);
    is_round_over();
    setting().new_version(mean(), 1, true);
  }
  /// Waits for the rows of those partners that are up and take part in this round.
  Task<> gather(std::size_t number, const std::vector<std::size_t>& partners) {
    world::EventLoop& loop = setting().loop;
    Partner& own = workers_[number];
    const auto is_awaited = [&](std::size_t other) {
      return loop.is_up(node_of(other)) && workers_[other].since <= own.first &&
             !own.arrived.contains({node_of(other), own.first});
    };
    while (std::ranges::any_of(partners, is_awaited)) {
      Parcel parcel = co_await loop.receive(node_of(number), kProposal);
      if (!parcel.gone && !parcel.back && parcel.number >= own.first)
        own.arrived[{parcel.from, parcel.number}] = std::move(parcel.values);
    }
  }
  void send(std::size_t number, const std::vector<std::size_t>& partners, world::Channel channel,
            const std::vector<Value>& rows, world::Channel news = {}) {
    const std::int64_t first = workers_[number].first;
    for (const std::size_t other : partners) {
      if (!setting().loop.is_up(node_of(other)) || workers_[other].since > first) continue;
      setting().loop.send(node_of(number), node_of(other), channel,
                          {.values = rows, .bytes = static_cast<double>(rows.size()) * row_bytes(), .number = first},
                          news);
    }
  }
  /// Averages θ from the round's beginning with the neighbours' θ that have arrived, without waiting.
  Task<> mix_beginnings(std::size_t number, const std::vector<std::size_t>& partners, const Value& sent) {
    world::EventLoop& loop = setting().loop;
    const Sizing& sizing = setting().sizing;
    Partner& me = workers_[number];
    while (loop.waiting(node_of(number), kBeginning) > 0) {
      Parcel parcel = co_await loop.receive(node_of(number), kBeginning);
      if (parcel.number >= me.first) me.beginnings[{parcel.from, parcel.number}] = std::move(parcel.values);
    }
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(me.beginnings, [&](const auto& one) { return one.first.second == me.first; }));
    co_await loop.compute(node_of(number),
                          sizing.decode_by(encoding(), step::Role::workers, static_cast<double>(count)) +
                              sizing.sum(step::Role::workers, 1 + count));
    const Value theta = mixed(number, partners, me.beginnings, sent, theta_of(me.outer));
    me.outer = local().with_state_of(theta, me.outer);
    std::erase_if(me.beginnings, [&](const auto& one) { return one.first.second <= me.first; });
  }
  /// Returns the worker's value after mixing with the partners' values that have arrived in this round. `sent`: the
  /// value as partners received it; `exact`: the value before encoding.
  Value mixed(std::size_t number, const std::vector<std::size_t>& partners, Rows& arrived, const Value& sent,
              const Value& exact) const {
    const std::int64_t first = workers_[number].first;
    std::map<std::size_t, std::pair<Value, double>> all;
    double rest = 1;
    for (const std::size_t other : partners) {
      const auto found = arrived.find({node_of(other), first});
      if (found == arrived.end()) continue;
      const std::size_t degree = std::max(partners.size(), pairs_ ? std::size_t{1} : graph_[other].size());
      const double share = strength_ / static_cast<double>(1 + degree);
      all[other] = {found->second[0], share};
      rest -= share;
    }
    std::vector<Value> values;
    std::vector<double> weights;
    const bool loses = sent.key() != exact.key();  // the compression error, exact − sent, stays with the worker
    all[number] = {sent, loses ? rest - 1 : rest};
    if (loses) {
      values.push_back(exact);
      weights.push_back(1);
    }
    for (const auto& [other, value] : all) {
      values.push_back(value.first);
      weights.push_back(value.second);
    }
    return learning().weighted_sum(values, weights);
  }
  /// Combines the worker's proposal with its partners'. `rows`: the worker's rows as sent; `proposal`: p_i before
  /// encoding.
  void combine(std::size_t number, const std::vector<std::size_t>& partners, const std::vector<Value>& rows,
               const Value& proposal) {
    Partner& own = workers_[number];
    if (rule().is_of_groups) {
      std::map<std::size_t, std::vector<Value>> all{{number, rows}};
      for (const std::size_t other : partners) {
        const auto found = own.arrived.find({node_of(other), own.first});
        if (found != own.arrived.end()) all[other] = found->second;
      }
      const std::vector<double> evenly(all.size(), 1);
      std::vector<Value> values, thetas;
      for (const auto& [other, sent] : all) values.push_back(sent[0]);
      for (const auto& [other, sent] : all) thetas.push_back(sent[1]);
      const Value apart = learning().difference(weighted_mean(learning(), thetas, evenly), rows[1]);
      own.outer = outer_after(own.outer, weighted_mean(learning(), values, evenly), own.rounds, apart);
    } else {
      own.outer = local().with_state_of(mixed(number, partners, own.arrived, rows[0], proposal), own.outer);
    }
    std::erase_if(own.arrived, [&](const auto& one) { return one.first.second <= own.first; });
    own.own = local().with_state_of(theta_of(own.outer), own.own);
  }

  bool pairs_, factored_;
  double strength_;
  std::vector<std::set<std::size_t>> graph_;  ///< neighbours in both directions; empty for random pairs
  std::vector<Partner> workers_;
};

}  // namespace

std::unique_ptr<Protocol> partner_rounds(const Setting& setting) { return std::make_unique<PartnerRounds>(setting); }

}  // namespace dadsim::protocols
