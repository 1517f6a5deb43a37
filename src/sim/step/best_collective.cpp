#include "sim/step/best_collective.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

#include "sim/flow/flow.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/step/closed_form.hpp"
#include "sim/step/round_paths.hpp"

namespace dadsim::sim {
namespace {

constexpr std::size_t kTimed = 5;               // largest number of candidates timed by flow, without a ring that is
                                                // added
constexpr std::size_t kMostLookedAt = 500'000;  // largest number of messages, counting equal rounds once, with which a
                                                // collective is examined

/// Returns whether the rounds have few enough messages to examine each; equal rounds of a phase count once.
bool is_small(const collectives::Rounds& rounds) {
  std::size_t messages = 0;
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (std::int64_t i = 0; i < (phase.uniform ? 1 : phase.rounds); ++i) {
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
        transfers.clear();
        rounds.sends(rank, phase.first + i, transfers);
        messages += transfers.size();
        if (messages > kMostLookedAt) return false;
      }
    }
  }
  return true;
}

/// Returns the seconds by flow; if flow refuses the collective, the seconds for ranks in step.
double by_flow(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
               Interconnect& network) {
  std::vector<double> dates(static_cast<std::size_t>(rounds.ranks()), 0);
  if (const Refused refused = FlowModel(network, hosts).run(rounds, dates))
    return refused->in_step > 0 ? refused->in_step : std::numeric_limits<double>::infinity();
  return *std::ranges::max_element(dates);
}

/// Returns the seconds in which lines carry the bytes of each round, round after round. Over a WAN, pairs differ so
/// much that the slowest pair (closed_form_of) is a poor measure, because direct algorithms use all pairs at once.
double by_lines(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                Interconnect& network) {
  double seconds = 0;
  for_each_different_round(rounds, [&](std::int64_t round, std::int64_t times) {
    std::unordered_map<std::int32_t, double> loads;  // bytes, by link
    double latency = 0;
    double slowest = 0;
    for_each_path(rounds, round, hosts, network, [&](const Path& path, const collectives::Transfer& transfer) {
      latency = std::max(latency, path.latency + path.use.overhead);
      slowest = std::max(slowest, transfer.bytes / path.connection_rate);
      for (const std::int32_t link : path.links) loads[link] += transfer.bytes;
    });
    for (const auto& [link, bytes] : loads) slowest = std::max(slowest, bytes / network.link(link).payload_rate());
    seconds += static_cast<double>(times) * (latency + slowest);
  });
  return seconds;
}

/// Returns the hosts of a request's first group.
std::vector<simgrid::s4u::Host*> first_hosts(const Request& request, const std::vector<simgrid::s4u::Host*>& hosts) {
  std::vector<simgrid::s4u::Host*> own;
  for (const collectives::Rank rank : request.groups.front()) own.push_back(hosts.at(static_cast<std::size_t>(rank)));
  return own;
}

}  // namespace

bool is_compared(const Request& request, const std::vector<simgrid::s4u::Host*>& hosts) {
  return request.algorithm == "best" || (request.algorithm == "auto" && joined_by_wan(first_hosts(request, hosts)));
}

BestCollective best_collective(const std::vector<Request>& requests, const std::vector<simgrid::s4u::Host*>& hosts,
                               Interconnect& network) {
  struct TriedAlgorithm {
    std::string name;
    std::vector<collectives::RankGroup> groups;
    double estimate = 0, seconds = 0;
  };
  const auto hosts_of = [&](const collectives::RankGroup& group) {
    std::vector<simgrid::s4u::Host*> own;
    own.reserve(group.ranks.size());
    for (const collectives::Rank rank : group.ranks) own.push_back(hosts.at(static_cast<std::size_t>(rank)));
    return own;
  };
  // Examines the first group of a request, since all groups are equal.
  const auto groups_by = [&](const std::string& name) {
    std::vector<collectives::RankGroup> groups;
    groups.reserve(requests.size());
    for (const Request& request : requests) {
      groups.push_back({lay_out(request.collective, name, request.layout), request.groups.front()});
    }
    return groups;
  };
  const std::string usual = choose_collective(requests.front().collective, requests.front().layout);
  std::vector<std::string> names = fitting_algorithms(requests.front().collective, requests.front().layout);
  for (const Request& request : std::span(requests).subspan(1)) {
    const std::vector<std::string> own = fitting_algorithms(request.collective, request.layout);
    std::erase_if(names, [&](const std::string& name) { return std::ranges::find(own, name) == own.end(); });
  }
  const bool over_wan = joined_by_wan(first_hosts(requests.front(), hosts));
  std::vector<TriedAlgorithm> candidates;
  std::vector<std::string> too_large;
  for (const std::string& name : names) {
    TriedAlgorithm candidate{name, groups_by(name)};
    if (!std::ranges::all_of(candidate.groups, [](const auto& group) { return is_small(*group.rounds); })) {
      too_large.push_back(name);
      continue;
    }
    for (const collectives::RankGroup& group : candidate.groups) {
      const std::vector<simgrid::s4u::Host*> own = hosts_of(group);
      candidate.estimate = std::max(candidate.estimate, over_wan ? by_lines(own, *group.rounds, network)
                                                                 : closed_form_of(own, *group.rounds, network));
    }
    candidates.push_back(std::move(candidate));
  }
  if (candidates.empty()) return {usual, {"none-compared"}};
  std::ranges::stable_sort(candidates, {}, &TriedAlgorithm::estimate);
  const auto chosen = std::ranges::find(candidates, usual, &TriedAlgorithm::name);
  if (chosen != candidates.end() && chosen - candidates.begin() >= static_cast<std::ptrdiff_t>(kTimed)) {
    std::rotate(candidates.begin() + kTimed - 1, chosen, chosen + 1);
  }
  std::size_t timed = std::min(kTimed, candidates.size());
  const auto ring = std::ranges::find(candidates, "ring", &TriedAlgorithm::name);
  if (ring != candidates.end() && ring - candidates.begin() >= static_cast<std::ptrdiff_t>(timed) && over_wan) {
    std::rotate(candidates.begin() + static_cast<std::ptrdiff_t>(timed), ring, ring + 1);
    ++timed;
  }
  const TriedAlgorithm* best = nullptr;
  Statement compared{"compared-by-flow"};
  std::vector<double> seconds;
  for (TriedAlgorithm& candidate : std::span(candidates).first(timed)) {
    for (const collectives::RankGroup& group : candidate.groups) {
      candidate.seconds = std::max(candidate.seconds, by_flow(hosts_of(group), *group.rounds, network));
    }
    compared.subjects.push_back(candidate.name);
    seconds.push_back(candidate.seconds);
    if (best == nullptr || candidate.seconds < best->seconds * (1 - 1e-9)) best = &candidate;
  }
  compared.with("seconds", std::move(seconds)).with("slower", static_cast<double>(candidates.size() - timed));
  if (!too_large.empty()) compared.with("too_large", std::move(too_large));
  return {best->name, compared};
}

std::optional<Statement> quicker_of_library(const collectives::CollectiveRequest& request, const std::string& taken,
                                            const collectives::RankLayout& layout,
                                            const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network) {
  constexpr double kNotable = 0.9;      // longest time that is reported, as a share of the chosen algorithm's time
  constexpr std::size_t kRanks = 1024;  // largest number of ranks examined
  const std::vector<collectives::CollectiveChoice> choices = library_choices(request, layout);
  if (choices.size() < 2 || hosts.size() > kRanks) return {};
  const auto seconds_of = [&](const std::string& algorithm, collectives::Protocol protocol) {
    collectives::CollectiveRequest asked = request;
    asked.protocol = protocol;
    const auto rounds = lay_out(asked, algorithm, layout);
    return is_small(*rounds) ? by_flow(hosts, *rounds, network) : std::numeric_limits<double>::infinity();
  };
  const double own = seconds_of(taken, collectives::Protocol::by_message);
  const collectives::CollectiveChoice* best = nullptr;
  double least = kNotable * own;
  for (const collectives::CollectiveChoice& choice : choices) {
    const double seconds = seconds_of(choice.algorithm, choice.protocol);
    if (!(seconds < least)) continue;
    least = seconds;
    best = &choice;
  }
  if (best == nullptr) return {};
  return Statement{"quicker-in-library", {best->algorithm}}
      .with("protocol", std::string(to_string(best->protocol)))
      .with("seconds", least)
      .with("saving", 1 - least / own)
      .with("setting", best->setting);
}

}  // namespace dadsim::sim
