
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "protocols/federated/federation.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
namespace {

using End = ProtocolLog::Part::End;
using What = RequestPool::ClientEvent::What;

constexpr world::Channel kGroupModel = "model of all";
constexpr world::Channel kGroupUpdate = "update of a group";

class HierFedAvg final : public Federation {
 public:
  static constexpr spec::IntegerParameter kGroups{
      "groups", 1, 1e9, "2", "number of groups of equally many consecutive workers; the first worker leads its group"};
  static constexpr spec::IntegerParameter kEdgeRounds{"edge-rounds", 1, 1e9, "1",
                                                      "rounds inside each group per round of all groups"};
  static constexpr spec::IntegerParameter kRounds{
      "rounds", 0, 1e9, "0", "rounds of all groups; 0: until clients have trained for the epochs of <training>"};

  explicit HierFedAvg(const Setting& setting)
      : Federation(setting), rounds_(setting.value(kRounds)), edge_rounds_(setting.value(kEdgeRounds)) {
    const auto groups = static_cast<std::size_t>(setting.value(kGroups));
    const std::size_t size = setting.sites / groups;
    std::vector<Node> leaders;
    for (std::size_t g = 0; g < groups; ++g) {
      EdgeGroup group;
      group.first = g * size;
      leaders.push_back(node_of(group.first));
      std::vector<Node> members;
      for (std::size_t i = 0; i < size; ++i) members.push_back(node_of(group.first + i));
      group.members = std::make_unique<RequestPool>(setting, RequestPool::Options{.asker = leaders.back(),
                                                                                  .others = std::move(members),
                                                                                  .orders = kModel,
                                                                                  .answers = kUpdate,
                                                                                  .retries = setting.value(kRetries)});
      groups_.push_back(std::move(group));
    }
    // A leader goes on when its server is down, because its group does not notice.
    leaders_ = std::make_unique<RequestPool>(setting, RequestPool::Options{.asker = setting.server,
                                                                           .others = std::move(leaders),
                                                                           .orders = kGroupModel,
                                                                           .answers = kGroupUpdate,
                                                                           .retries = setting.value(kRetries),
                                                                           .tells = false,
                                                                           .stops = false});
  }

  void begin() override {
    model_ = learning().initial();
    setting().loop.join(setting().server, "server", [this] { return server(); });
    leaders_->watch();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      EdgeGroup& group = groups_[g];
      group.members->watch();
      setting().loop.join(node_of(group.first), "leader", [this, g] { return leader(g); });
      for (std::size_t i = 0; i < group.members->size(); ++i) {
        setting().loop.join(node_of(group.first + i), "client",
                            [this, &group, i] { return client(group.first + i, group.members.get(), i); });
      }
    }
  }

 private:
  struct EdgeGroup {
    std::size_t first = 0;  ///< index of its leader
    std::unique_ptr<RequestPool> members = nullptr;
    double weight = 0;                   ///< sum of weight_of() over the clients that took part in its last edge round
    std::vector<std::size_t> took_part;  ///< clients that took part since the group last heard from the server
    Value memory;                        ///< clients that took part since the group last heard from the server
    std::uint32_t answers = 0;
    std::int64_t round = 0;
  };
  struct EdgeUpdate {
    Value difference;
    std::size_t from = 0;
    double weight = 0;
    Parcel parcel = {};
  };

  /// Returns x − Σ p_k Δ_k.
  Value mean_of(const Value& model, const std::vector<EdgeUpdate>& updates) {
    double all = 0;
    for (const EdgeUpdate& update : updates) all += update.weight;
    std::vector<Value> values = {model};
    std::vector<double> weights = {1};
    for (const EdgeUpdate& update : updates) {
      values.push_back(update.difference);
      weights.push_back(-update.weight / all);
    }
    return learning().weighted_sum(values, weights);
  }

  Work sum_work(step::Role who, std::size_t updates) const {
    return setting().sizing.decode(who, static_cast<double>(updates)) + setting().sizing.sum(who, updates);
  }

  Task<> server() {
    world::EventLoop& loop = setting().loop;
    leaders_->begin();
    if (setting().log.versions.empty() && setting().new_version(model_, 1)) co_return;
    for (;;) {
      while (leaders_->has_news() || leaders_->free() == 0) {
        const RequestPool::ClientEvent news = co_await leaders_->next();
        if (news.what == What::answer) leaders_->waste(news.parcel);
      }
      const std::int64_t round = ++round_;
      const std::size_t asked = leaders_->free();
      std::vector<std::size_t> chosen;
      for (std::size_t k = 0; k < asked; ++k) chosen.push_back(leaders_->nth_free(k));
      for (const std::size_t g : chosen) {
        leaders_->ask(g, {.values = {model_}, .bytes = bytes_down(), .number = round});
      }
      std::vector<EdgeUpdate> updates;
      for (std::size_t open = asked; open > 0;) {
        const RequestPool::ClientEvent event = co_await leaders_->next();
        if (event.number != round) continue;
        if (event.what == What::failed) --open;
        if (event.what != What::answer) continue;
        --open;
        updates.push_back({.difference = event.parcel.values.front(),
                           .from = event.other,
                           .weight = groups_[event.other].weight,
                           .parcel = event.parcel});
      }
      if (!updates.empty()) {
        Work work = sum_work(step::Role::aggregator, updates.size());
        co_await loop.compute(setting().server, std::move(work));
        std::ranges::sort(updates, {}, &EdgeUpdate::from);
        model_ = mean_of(model_, updates);
        for (const EdgeUpdate& update : updates) {
          for (const std::size_t one : groups_[update.from].took_part) count_used(one);
        }
        ++setting().log.updates;
      }
      const bool last = rounds_ > 0 ? round >= rounds_ : setting().budget_spent();
      if (!updates.empty() || last) {
        if (setting().new_version(model_, 1, last)) co_return;
      }
    }
  }

  Task<> leader(std::size_t g) {
    world::EventLoop& loop = setting().loop;
    EdgeGroup& group = groups_[g];
    const Node me = node_of(group.first);
    group.members->begin();
    for (;;) {
      const Parcel order = co_await loop.receive(me, kGroupModel);
      if (order.lost) {
        leaders_->answer_lost(g, order.number);
        continue;
      }
      Value model = order.values.front();
      group.took_part.clear();
      group.weight = 0;
      for (std::int64_t k = 0; k < edge_rounds_; ++k) {
        std::vector<EdgeUpdate> updates;
        co_await edge_round(group, model, updates);
        if (updates.empty()) continue;
        Work work = sum_work(step::Role::workers, updates.size());
        co_await loop.compute(me, std::move(work));
        model = mean_of(model, updates);
        group.weight = 0;
        for (const EdgeUpdate& update : updates) {
          group.weight += update.weight;
          group.took_part.push_back(group.first + update.from);
        }
      }
      Parcel answer{.number = order.number};
      if (!group.took_part.empty()) {
        if (setting().run.compress.method != "none") {
          Work work = setting().sizing.encode(step::Role::workers);
          co_await loop.compute(me, std::move(work));
        }
        const Value difference = learning().difference(order.values.front(), model);
        Learning::SentValue sent = learning().send(difference, group.memory, setting().run.compress,
                                                   static_cast<std::uint32_t>(setting().sites + g), group.answers++);
        group.memory = sent.memory;
        answer.values.push_back(std::move(sent.arrives));
        answer.bytes = bytes_up();
      }
      loop.send(me, setting().server, kGroupUpdate, std::move(answer), kGroupModel);
    }
  }

  Task<> edge_round(EdgeGroup& group, const Value& model, std::vector<EdgeUpdate>& updates) {
    while (group.members->has_news()) {
      const RequestPool::ClientEvent news = co_await group.members->next();
      if (news.what == What::failed) group.members->tell(news, End::failed);
    }
    const std::int64_t round = ++group.round;
    std::vector<std::size_t> chosen;
    for (std::size_t k = 0; k < group.members->free(); ++k) chosen.push_back(group.members->nth_free(k));
    for (const std::size_t i : chosen) {
      ask(*group.members, i, group.first + i, round, model, {}, node_of(group.first + i) == group.members->asker());
    }
    for (std::size_t open = chosen.size(); open > 0;) {
      const RequestPool::ClientEvent event = co_await group.members->next();
      if (event.what != What::answer && event.what != What::failed) continue;
      --open;
      group.members->tell(event, event.what == What::answer ? End::used : End::failed);
      if (event.what == What::failed) continue;
      updates.push_back({.difference = event.parcel.values.front(),
                         .from = event.other,
                         .weight = weight_of(group.first + event.other),
                         .parcel = event.parcel});
    }
    std::ranges::sort(updates, {}, &EdgeUpdate::from);
  }

  std::vector<EdgeGroup> groups_;
  std::unique_ptr<RequestPool> leaders_;
  Value model_;
  std::int64_t rounds_ = 0, edge_rounds_ = 1, round_ = 0;
};

}  // namespace

/// Hierarchical federated averaging (Liu et al., arXiv 1905.06641, algorithm 1). Clients train; their group's leader
/// takes the mean, weighted by samples. After κ₂ = `edge-rounds` such rounds the server takes the mean of the groups'
/// models, weighted by the samples of the clients that took part in the last of these rounds. Groups have equally many
/// workers, in the order of the scenario. The first worker of a group leads it and trains too.
///
/// A group's round continues without a client that goes down; the server's round continues without a group whose leader
/// goes down.
EventDrivenMethod hier_fed_avg_method() {
  return {{.name = "hierfavg",
           .family = "federated",
           .parameters = joined<spec::ParameterSpec>(
               {Federation::local_parameters(), {HierFedAvg::kGroups, HierFedAvg::kEdgeRounds, HierFedAvg::kRounds}}),
           .sharing = Sharing::event_driven,
           .check = [](const RunFacts& facts) -> RunFaults {
             const auto groups = static_cast<std::size_t>(HierFedAvg::kGroups.of(facts.run.parameters));
             RunFaults faults = Federation::faults_of_parameters(facts.run.parameters);
             if (facts.sites % groups == 0) return faults;
             faults.push_back(Fault{fmt::format("{} groups do not divide {} workers evenly", groups, facts.sites),
                                    fmt::format("use a number that divides {}", facts.sites)});
             return faults;
           },
           .objective = methods::Objective::samples},
          [](const Setting& setting) { return std::make_unique<HierFedAvg>(setting); }};
}

}  // namespace dadsim::protocols
