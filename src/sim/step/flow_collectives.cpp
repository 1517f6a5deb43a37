#include "sim/step/flow_collectives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <variant>

#include "sim/flow/flow_events.hpp"
#include "sim/step/closed_form.hpp"
#include "sim/step/collective_choice.hpp"

namespace dadsim::sim {
namespace {

constexpr double kMostKeptMessages = 2e7;  // largest number of messages in kept models; each takes some 100 bytes
constexpr double kManyMessages = 2e5;      // messages whose individual simulation takes a second
constexpr double kTooMany = 2e7;           // messages above which a collective is refused, like
                                           // FlowEvents::kMostMessages
constexpr std::int64_t kFollowed = 32;     // least number of equal rounds that are simulated message by message
constexpr std::size_t kFewNodes = 4473;    // nodes below which no supported collective has too many messages
constexpr std::size_t kKeptApart = 16;     // largest number of outcomes kept per collective for ranks that began apart
constexpr double kSameBegin = 1e-12;       // seconds within which events count as simultaneous, as in SimGrid

/// Calls `visit(rank, transfer, times)` for every message, once for `times` equal messages in as many rounds.
template <class Visit>
void for_each_message(const collectives::Rounds& rounds, const Visit& visit) {
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      const double times = phase.uniform ? static_cast<double>(phase.rounds) : 1;
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
        transfers.clear();
        rounds.sends(rank, phase.first + i, transfers);
        for (const collectives::Transfer& transfer : transfers) visit(rank, transfer, times);
      }
    }
  }
}

/// Returns the least number of messages that must be simulated if ranks get out of step.
double least_followed(const collectives::Rounds& rounds) {
  double messages = 0;
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds) && messages <= kTooMany; ++i) {
      transfers.clear();
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) rounds.sends(rank, phase.first + i, transfers);
      messages += static_cast<double>(phase.uniform ? std::min(phase.rounds, kFollowed) : 1) *
                  static_cast<double>(transfers.size());
    }
  }
  return messages;
}

/// Disjoint sets of the numbers 0, 1, …, which initially contain one number each (Tarjan, JACM 22(2), 1975, with
/// halving of paths).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  /// Joins two sets; the lower number represents both.
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

FlowCollectives::FlowCollectives(const Nodes& nodes, const Parts& parts, const collectives::RankLayout& layout,
                                 const schedule::Schedule& schedule, Interconnect& network, bool by_closed_form)
    : parts_(parts),
      layout_(layout),
      schedule_(schedule),
      beside_(schedule),
      network_(network),
      by_closed_form_(by_closed_form) {
  for (std::size_t node = 0; node < parts.nodes(); ++node) hosts_.push_back(nodes.hosts[parts.host_index(node)]);
}

std::vector<FlowPart>& FlowCollectives::of(const schedule::Task& task) {
  if (auto* known = known_.find(task); known != nullptr) return *known;
  const std::vector<collectives::RankGroup> groups = lay_out(requests_of(task, schedule_, layout_, beside_));
  Groups all;
  for (const collectives::RankGroup& group : groups) all.push_back(&group);
  std::vector<FlowPart> made = divided(all);
  if (task.stage == schedule::kEveryStage && schedule_.pipeline > 1) {
    const auto of_stage = static_cast<std::size_t>(schedule_.tensor * schedule_.context) * schedule_.replicas();
    for (FlowPart& part : made) {
      std::map<std::size_t, Groups> by_stage;
      std::vector<bool> is_here(parts_.nodes());
      for (const std::size_t node : part.nodes) is_here[node] = true;
      for (const collectives::RankGroup& group : groups) {
        const auto first = static_cast<std::size_t>(group.ranks.front());
        if (is_here[first]) by_stage[first / of_stage].push_back(&group);
      }
      if (by_stage.size() < 2) continue;
      for (const auto& [stage, own] : by_stage) part.stages.push_back(joined(own));
    }
  }
  return known_.add(task, std::move(made));
}

/// Divides groups into parts. Groups that share a link are in the same part, directly or through other groups.
std::vector<FlowPart> FlowCollectives::divided(const Groups& groups) {
  std::vector<FlowPart> parts;
  if (groups.size() == 1) {
    parts.push_back(joined(groups));
    return parts;
  }
  DisjointSets sets(groups.size());
  std::unordered_map<std::int32_t, std::size_t> user_of;  // a group that uses each link
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<collectives::Rank>& ranks = groups[i]->ranks;
    const auto host = [&](collectives::Rank rank) {
      return hosts_[static_cast<std::size_t>(ranks[static_cast<std::size_t>(rank)])];
    };
    for_each_message(*groups[i]->rounds, [&](collectives::Rank from, const collectives::Transfer& transfer, double) {
      for (const std::int32_t link : network_[network_.path(host(from), host(transfer.peer))].links) {
        if (!network_.link(link).shared) continue;
        const auto [user, added] = user_of.try_emplace(link, i);
        if (!added) sets.join(user->second, i);
      }
    });
  }
  std::map<std::size_t, Groups> together;
  for (std::size_t i = 0; i < groups.size(); ++i) together[sets.find(i)].push_back(groups[i]);
  for (const auto& [first, own] : together) parts.push_back(joined(own));
  return parts;
}

FlowPart FlowCollectives::joined(const Groups& groups) const {
  FlowPart part;
  std::vector<collectives::RankGroup> renumbered;
  for (const collectives::RankGroup* group : groups) {
    const std::size_t first = part.nodes.size();
    for (const collectives::Rank rank : group->ranks) part.nodes.push_back(static_cast<std::size_t>(rank));
    part.ends.push_back(part.nodes.size());
    std::vector<collectives::Rank> ranks(group->size());
    std::iota(ranks.begin(), ranks.end(), static_cast<collectives::Rank>(first));
    renumbered.push_back({group->rounds, std::move(ranks)});
  }
  part.rounds = as_one(std::move(renumbered), part.nodes.size());
  for (const std::size_t node : part.nodes) part.hosts.push_back(hosts_[node]);
  return part;
}

namespace {

/// Adds the time before the first message: software, without the time lost by the bandwidth.
void add_start(const collectives::Rounds& rounds, SpentSeconds& spent) {
  spent[{"overhead", ""}] += rounds.start_seconds() - rounds.lost_seconds();
}

}  // namespace

Refused FlowCollectives::carry_out(FlowPart& part, std::vector<double>& dates, double earliest, double latest,
                                   FlowOutcome& outcome, bool follow) {
  if (by_closed_form_) {
    const double end = latest + closed_form_of(part.hosts, *part.rounds, network_);
    std::ranges::fill(dates, end);
    outcome.spent[{"latency", "closed form"}] = std::max(0.0, end - latest - software(part));
    outcome.spent[{"overhead", ""}] = std::min(end - latest, software(part));
    if (part.traffic == nullptr) part.traffic = std::make_unique<const FlowTraffic>(traffic_of(part, {}));
  } else {
    std::unique_ptr<FlowModel> model = part.model != nullptr
                                           ? std::move(part.model)
                                           : std::make_unique<FlowModel>(network_, part.hosts, true, memory_);
    model->follow(follow);
    if (Refused refused = model->run(*part.rounds, dates)) return refused;
    if (earliest >= latest) part.gets_apart = model->is_followed();
    outcome.spent = model->spent();
    add_start(*part.rounds, outcome.spent);
    if (part.traffic == nullptr) {
      part.traffic = std::make_unique<const FlowTraffic>(traffic_of(part, model->loads()));
      kept_ += part.traffic->messages;
    }
    model->forget_links();
    if (kept_ <= kMostKeptMessages) part.model = std::move(model);
  }
  outcome.seconds.reserve(dates.size());
  for (const double date : dates) outcome.seconds.push_back(date - earliest);
  return {};
}

Refused FlowCollectives::carry_out_apart(FlowPart& part, std::vector<double>& dates, double earliest, double latest,
                                         const FlowOutcome*& outcome, bool follow) {
  const auto as_before = [&](double date, double begin) { return std::abs(date - earliest - begin) <= kSameBegin; };
  for (const auto& known : part.apart) {
    if (!std::ranges::equal(dates, known->begins, as_before)) continue;
    for (std::size_t rank = 0; rank < dates.size(); ++rank) dates[rank] = earliest + known->outcome.seconds[rank];
    outcome = &known->outcome;
    return {};
  }
  auto apart = std::make_unique<FlowApart>();
  apart->begins.reserve(dates.size());
  for (const double date : dates) apart->begins.push_back(date - earliest);
  // Makes no attempt in step if ranks that began together got out of step.
  if (Refused refused = carry_out(part, dates, earliest, latest, apart->outcome, follow || part.gets_apart))
    return refused;
  if (part.apart.size() >= kKeptApart) part.apart.erase(part.apart.begin());
  outcome = &part.apart.emplace_back(std::move(apart))->outcome;
  return {};
}

Refused FlowCollectives::enter(FlowPart& part, std::vector<double>& dates) {
  if (!part.solved->holds_for(dates)) {
    if (Refused refused = solve(part, true)) return refused;
  }
  part.solved->enter(dates);
  return {};
}

Refused FlowCollectives::solve(FlowPart& part, bool of_ranks) {
  if (part.solved != nullptr && !(of_ranks && part.solved->is_divided())) return {};
  auto solved = std::make_unique<MaxPlusRounds>();
  if (by_closed_form_ || !FlowEvents::serves_without_loss(network_)) {
    part.solved = std::move(solved);
    return {};
  }
  if (reuses_ && part.gets_apart && part.model != nullptr &&
      part.model->solve_again(*part.rounds, part.together->seconds, *solved, of_ranks)) {
    part.solved = std::move(solved);
    return {};
  }
  FlowModel model(network_, part.hosts, true, memory_);
  model.follow(part.gets_apart);  // no attempt in step, as when all ranks began together
  std::vector<double> done(part.nodes.size(), 0);
  if (Refused refused = model.solve(*part.rounds, done, *solved, of_ranks)) return refused;
  if (part.traffic == nullptr) part.traffic = std::make_unique<const FlowTraffic>(traffic_of(part, model.loads()));
  if (part.together == nullptr) {
    FlowOutcome outcome{std::move(done), model.spent()};
    add_start(*part.rounds, outcome.spent);
    part.together = std::make_unique<const FlowOutcome>(std::move(outcome));
  }
  part.solved = std::move(solved);
  return {};
}

void FlowCollectives::begin_step(bool known) {
  for_each([known](FlowPart& part) {
    part.times = 0;
    if (!known) part.number.reset();
    part.spent.clear();
  });
}

Refused FlowCollectives::carry_out_largest(bool over_free_links) {
  if (over_free_links || by_closed_form_ || parts_.nodes() < kFewNodes) return {};
  for (const schedule::Task& task : schedule_.tasks) {
    if (std::holds_alternative<schedule::CollectiveTask>(task.what)) of(task);
  }
  std::vector<std::pair<double, FlowPart*>> large;
  known_.for_each([&](std::vector<FlowPart>& parts) {
    for (FlowPart& part : parts) {
      if (part.together != nullptr || least_followed(*part.rounds) <= kTooMany) continue;
      double bytes = 0;
      std::vector<collectives::Transfer> transfers;
      for (collectives::Rank rank = 0; rank < part.rounds->ranks(); ++rank) part.rounds->sends(rank, 0, transfers);
      for (const collectives::Transfer& transfer : transfers) bytes = std::max(bytes, transfer.bytes);
      large.emplace_back(bytes, &part);
    }
  });
  std::ranges::stable_sort(large, std::greater(), [](const auto& one) { return one.first; });
  for (const auto& [bytes, part] : large) {
    std::vector<double> dates(part->nodes.size(), 0);
    FlowOutcome outcome;
    if (Refused refused = carry_out(*part, dates, 0, 0, outcome)) return refused;
    part->together = std::make_unique<const FlowOutcome>(std::move(outcome));
  }
  return {};
}

double FlowCollectives::messages_on(FlowPart& part, std::int32_t link) {
  if (is_large(part)) return 1;
  if (!part.messages_on) {
    struct Use {
      double messages = 0, rounds = 0;
      std::int64_t last = -1;  ///< last round with a message
    };
    std::unordered_map<std::int32_t, Use> uses;
    std::vector<collectives::Transfer> transfers;
    for (const collectives::RoundPhase& phase : part.rounds->phases()) {
      const double times = phase.uniform ? static_cast<double>(phase.rounds) : 1;
      for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
        for (collectives::Rank rank = 0; rank < part.rounds->ranks(); ++rank) {
          transfers.clear();
          part.rounds->sends(rank, phase.first + i, transfers);
          for (const collectives::Transfer& transfer : transfers) {
            const Path& path = network_[network_.path(part.hosts[static_cast<std::size_t>(rank)],
                                                      part.hosts[static_cast<std::size_t>(transfer.peer)])];
            for (const std::int32_t on : path.links) {
              Use& use = uses[on];
              use.messages += times;
              if (use.last != phase.first + i) use.rounds += times;
              use.last = phase.first + i;
            }
          }
        }
      }
    }
    part.messages_on.emplace();
    for (const auto& [on, use] : uses) (*part.messages_on)[on] = use.messages / use.rounds;
  }
  const auto known = part.messages_on->find(link);
  return known == part.messages_on->end() ? 1 : known->second;
}

double FlowCollectives::latency(FlowPart& part, std::size_t rank, std::size_t to, double bytes) {
  if (part.latencies.empty()) part.latencies.assign(part.nodes.size(), -1);
  double& known = part.latencies[rank];
  if (known < 0) {
    const Path& path = network_[network_.path(part.hosts[rank], part.hosts[to])];
    known = path.latency + path.use.cost(bytes).overhead;
  }
  return known;
}

double FlowCollectives::software(FlowPart& part) {
  if (!part.software) part.software = software_of(part.hosts, *part.rounds, network_);
  return *part.software;
}

void FlowCollectives::pass_by_software(FlowPart& part, std::vector<double>& dates) {
  for (std::size_t group = 0, first = 0; group < part.ends.size(); first = part.ends[group++]) {
    const auto own = std::span(dates).subspan(first, part.ends[group] - first);
    std::ranges::fill(own, *std::ranges::max_element(own) + software(part));
  }
}

bool FlowCollectives::is_large(FlowPart& part) const {
  if (!part.is_large) part.is_large = CollectiveChoices::messages_of(*part.rounds) > kManyMessages;
  return *part.is_large;
}

FlowTraffic FlowCollectives::traffic_of(const FlowPart& part, std::vector<LinkLoad> loads) {
  FlowTraffic traffic;
  traffic.sent.assign(part.nodes.size(), 0);
  traffic.received.assign(part.nodes.size(), 0);
  for_each_message(*part.rounds, [&](collectives::Rank rank, const collectives::Transfer& transfer, double times) {
    ++traffic.messages;
    traffic.sent[static_cast<std::size_t>(rank)] += times * transfer.bytes;
    traffic.received[static_cast<std::size_t>(transfer.peer)] += times * transfer.bytes;
    if (by_closed_form_) load(part, rank, transfer, times, loads);
  });
  for (std::size_t link = 0; link < loads.size(); ++link) {
    if (loads[link].payload > 0 || loads[link].wire > 0) {
      traffic.loads.emplace_back(static_cast<std::int32_t>(link), loads[link]);
    }
  }
  return traffic;
}

/// Adds a message, `times` times, to the loads of its links.
void FlowCollectives::load(const FlowPart& part, collectives::Rank from, const collectives::Transfer& transfer,
                           double times, std::vector<LinkLoad>& loads) {
  const Path& path = network_[network_.path(part.hosts[static_cast<std::size_t>(from)],
                                            part.hosts[static_cast<std::size_t>(transfer.peer)])];
  loads.resize(network_.links().size());
  for (const std::int32_t link : path.links) {
    loads[static_cast<std::size_t>(link)].payload += times * transfer.bytes;
    loads[static_cast<std::size_t>(link)].wire +=
        times * path.use.cost(transfer.bytes, part.rounds->protocol()).wire_bytes;
  }
}

}  // namespace dadsim::sim
