#include "sim/flow/event_classes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "sim/flow/hash_combine.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSameEntry = 1e-12;   // seconds within which events count as simultaneous
constexpr int kMostRefinements = 100;  // largest number of passes of the refinement
constexpr std::size_t kFewPeers = 16;  // largest number of peers for a linear search

/// Numbers distinct colours in order of first appearance.
class ColourNumbers {
 public:
  std::int32_t of(std::uint64_t colour) {
    return *number_of_.try_emplace(colour, static_cast<std::int32_t>(number_of_.size())).first;
  }
  std::size_t count() const { return number_of_.size(); }

 private:
  FlatMap<std::int32_t> number_of_;
};

}  // namespace

bool EventClasses::hold_for(const std::vector<double>& dates) const {
  for (std::size_t rank = 0; rank < dates.size(); ++rank) {
    const auto of_first = static_cast<std::size_t>(first[static_cast<std::size_t>(class_of[rank])]);
    if (std::abs(dates[rank] - dates[of_first]) > kSameEntry) return false;
  }
  return true;
}

MessageGraph::MessageGraph(const collectives::Rounds& rounds, FlowRoutes& routes, Interconnect& network,
                           const std::vector<simgrid::s4u::Host*>& hosts)
    : network_(network), ranks_(static_cast<std::size_t>(rounds.ranks())) {
  const std::vector<collectives::RoundPhase> phases = rounds.phases();
  std::vector<collectives::Transfer> transfers;
  FlatMap<std::size_t> place_of;  // indices of a rank's peers, if there are many
  offsets_.push_back(0);
  for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
    const std::size_t begin = pairs_.size();
    std::size_t last = begin;
    place_of.clear();
    const auto place = [&](collectives::Rank peer, std::int32_t channel) {
      const auto is_same = [&](std::size_t i) { return pairs_[i].to == peer && pairs_[i].channel == channel; };
      // Searches from the place of the previous round, since peers are usually in the same order.
      for (std::size_t i = 0; i < 2; ++i, last = last + 1 < pairs_.size() ? last + 1 : begin) {
        if (last < pairs_.size() && is_same(last)) return last;
      }
      if (pairs_.size() - begin <= kFewPeers) {
        for (std::size_t i = begin; i < pairs_.size(); ++i) {
          if (is_same(i)) return i;
        }
      } else if (place_of.size() == 0) {
        for (std::size_t i = begin; i < pairs_.size(); ++i) {
          place_of.try_emplace(EventClasses::key_of(0, pairs_[i].to, pairs_[i].channel), i);
        }
      }
      if (pairs_.size() - begin > kFewPeers) {
        const auto [known, added] = place_of.try_emplace(EventClasses::key_of(0, peer, channel), pairs_.size());
        if (!added) return *known;
      }
      pairs_.push_back({rank, peer, channel, 0});
      return pairs_.size() - 1;
    };
    for (const collectives::RoundPhase& phase : phases) {
      for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
        const std::int64_t round = phase.first + i;
        for (collectives::Rank lane = 0; lane < rounds.lanes(); ++lane) {
          transfers.clear();
          rounds.lane_sends(rank, lane, round, transfers);
          const std::uint64_t when =
              hash_combine(static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(lane) + 1);
          for (const collectives::Transfer& transfer : transfers) {
            last = place(transfer.peer, transfer.channel);
            ClassPair& pair = pairs_[last];
            pair.messages =
                hash_combine(hash_combine(pair.messages, when), std::bit_cast<std::uint64_t>(transfer.bytes));
          }
        }
      }
    }
    if (pairs_.size() > kMostPairs) {
      is_complete_ = false;
      pairs_ = {};
      links_ = {};
      return;
    }
    for (std::size_t i = begin; i < pairs_.size(); ++i) {
      ClassPair& pair = pairs_[i];
      const std::vector<std::int32_t>& links =
          routes.links(static_cast<std::size_t>(rank), static_cast<std::size_t>(pair.to));
      links_.insert(links_.end(), links.begin(), links.end());
      offsets_.push_back(links_.size());
      pair.messages = hash_combine(pair.messages, std::bit_cast<std::uint64_t>(rounds.lane_share(rank, pair.to)));
      if (!routes.are_links_alone()) {
        const std::int32_t path =
            network.path(hosts[static_cast<std::size_t>(rank)], hosts[static_cast<std::size_t>(pair.to)]);
        pair.messages = hash_combine(pair.messages, std::bit_cast<std::uint64_t>(network[path].latency));
      }
    }
  }
}

bool MessageGraph::may_lose() const {
  if (!is_complete_) return true;
  std::vector<double> arriving(network_.links().size(), 0);
  std::unordered_set<std::uint64_t> feeds;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    std::int32_t before = -1;
    for (const std::int32_t link : way(i)) {
      double& comes = arriving[static_cast<std::size_t>(link)];
      if (before >= 0 && feeds.insert(Interconnect::feed_of(before, link)).second)
        comes += network_.link(before).payload_rate();
      if (network_.link(link).drops(comes)) return true;
      before = link;
    }
  }
  return false;
}

std::optional<EventClasses> MessageGraph::classes(const std::vector<double>& dates, bool of_all) const {
  if (!is_complete_) return std::nullopt;
  const double begin = *std::ranges::min_element(dates);
  std::vector<std::uint64_t> of_ranks(ranks_);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    of_ranks[rank] = static_cast<std::uint64_t>(std::llround((dates[rank] - begin) / kSameEntry));
  }
  std::vector<std::uint64_t> of_links(network_.links().size());
  for (std::size_t link = 0; link < of_links.size(); ++link) of_links[link] = network_.links()[link].kind;
  std::vector<std::uint64_t> of_pairs(pairs_.size());
  std::vector<std::uint64_t> at_rank(ranks_);
  std::vector<std::uint64_t> on_link(of_links.size());
  std::size_t before = 0;
  for (int pass = 0; pass < kMostRefinements; ++pass) {
    std::ranges::fill(at_rank, 0);
    std::ranges::fill(on_link, 0);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const ClassPair& pair = pairs_[i];
      const auto from = static_cast<std::size_t>(pair.from);
      const auto to = static_cast<std::size_t>(pair.to);
      std::uint64_t colour = hash_combine(hash_combine(pair.messages, of_ranks[from]), of_ranks[to]);
      for (const std::int32_t link : way(i)) colour = hash_combine(colour, of_links[static_cast<std::size_t>(link)]);
      of_pairs[i] = colour;
      at_rank[from] += hash_combine(colour, 1);
      at_rank[to] += hash_combine(colour, 2);
      const std::uint64_t contribution = hash_combine(colour, 3);
      for (const std::int32_t link : way(i)) on_link[static_cast<std::size_t>(link)] += contribution;
    }
    std::vector<std::uint64_t> next_ranks(ranks_);
    std::vector<std::uint64_t> next_links = of_links;
    ColourNumbers ranks;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      next_ranks[rank] = hash_combine(of_ranks[rank], at_rank[rank]);
      ranks.of(next_ranks[rank]);
    }
    if (2 * ranks.count() > ranks_) return std::nullopt;
    ColourNumbers links;
    for (std::size_t link = 0; link < of_links.size(); ++link) {
      if (on_link[link] == 0) continue;
      next_links[link] = hash_combine(of_links[link], on_link[link]);
      links.of(next_links[link]);
    }
    const std::size_t now = ranks.count() + links.count();
    if (now == before) return settled(of_ranks, of_links, of_pairs, of_all);
    before = now;
    of_ranks.swap(next_ranks);
    of_links.swap(next_links);
  }
  return std::nullopt;
}

EventClasses MessageGraph::settled(const std::vector<std::uint64_t>& of_ranks,
                                   const std::vector<std::uint64_t>& of_links,
                                   const std::vector<std::uint64_t>& of_pairs, bool of_all) const {
  EventClasses classes;
  ColourNumbers ranks;
  std::vector<std::int64_t> ranks_of;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const std::int32_t number = ranks.of(of_ranks[rank]);
    if (static_cast<std::size_t>(number) == classes.first.size()) {
      classes.first.push_back(static_cast<collectives::Rank>(rank));
      ranks_of.push_back(0);
    }
    classes.class_of.push_back(number);
    ++ranks_of[static_cast<std::size_t>(number)];
  }
  // links in use, by class
  std::vector<std::int32_t> first_of(of_links.size(), -1);  // first link of each link's class
  std::vector<std::int64_t> links_of(of_links.size(), 0);   // number of links of the class, per first link
  std::vector<bool> used(of_links.size());
  for (const std::int32_t link : links_) used[static_cast<std::size_t>(link)] = true;
  FlatMap<std::int32_t> first_of_colour;
  for (std::size_t link = 0; link < of_links.size(); ++link) {
    if (!used[link]) continue;
    first_of[link] = *first_of_colour.try_emplace(of_links[link], static_cast<std::int32_t>(link)).first;
    ++links_of[static_cast<std::size_t>(first_of[link])];
    classes.first_link.emplace_back(static_cast<std::int32_t>(link), first_of[link]);
  }
  ColourNumbers pairs;
  std::vector<std::int64_t> pairs_of;
  std::vector<std::size_t> first_pair;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const ClassPair& pair = pairs_[i];
    const std::int32_t number = pairs.of(of_pairs[i]);
    if (static_cast<std::size_t>(number) == pairs_of.size()) {
      pairs_of.push_back(0);
      first_pair.push_back(i);
    }
    ++pairs_of[static_cast<std::size_t>(number)];
    const std::int32_t of_from = classes.class_of[static_cast<std::size_t>(pair.from)];
    if (!of_all && classes.first[static_cast<std::size_t>(of_from)] != pair.from) continue;
    classes.pair_of.try_emplace(EventClasses::key_of(pair.from, pair.to, pair.channel), number);
  }
  for (std::size_t number = 0; number < first_pair.size(); ++number) {
    const ClassPair& pair = pairs_[first_pair[number]];
    const auto to = static_cast<std::size_t>(classes.class_of[static_cast<std::size_t>(pair.to)]);
    EventClasses::PairClass& made = classes.pairs.emplace_back();
    made.from = pair.from;
    made.to = pair.to;
    made.arrivals = static_cast<std::int32_t>(pairs_of[number] / ranks_of[to]);
    for (const std::int32_t link : way(first_pair[number])) {
      const std::int32_t first = first_of[static_cast<std::size_t>(link)];
      const double flows =
          static_cast<double>(pairs_of[number]) / static_cast<double>(links_of[static_cast<std::size_t>(first)]);
      const auto known = std::ranges::find(made.crossings, first, &EventClasses::ClassCrossing::link);
      if (known != made.crossings.end()) {
        known->flows += flows;
      } else {
        made.crossings.push_back({first, flows});
      }
    }
  }
  return classes;
}

}  // namespace dadsim::sim
