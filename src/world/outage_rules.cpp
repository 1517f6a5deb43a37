#include "world/outage_rules.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "support/pattern.hpp"
#include "support/random.hpp"

namespace dadsim::world {
namespace {

using spec::AvailabilitySpec;

/// Hosts that are up and down together.
struct Together {
  std::size_t first = 0;  ///< of them, or the link
  std::vector<std::size_t> all;
};

/// Nodes of the cluster in the order of their first hosts, each with all hosts that it has.
std::vector<Together> nodes_that_fit(const OutageSubjects& subjects, const std::string& pattern) {
  std::vector<Together> found;
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < subjects.on.size(); ++i) {
    if (!fits(pattern, subjects.on[i])) continue;
    const auto [position, added] = number_of.try_emplace(subjects.on[i], found.size());
    if (added) found.push_back({i, {}});
    found[position->second].all.push_back(i);
  }
  if (found.empty()) throw std::invalid_argument("no node with a worker or the aggregator is called '" + pattern + "'");
  return found;
}

std::vector<std::size_t> subjects_that_fit(const OutageSubjects& subjects, bool links, const std::string& pattern) {
  std::vector<std::size_t> found;
  const std::size_t behind = links ? subjects.names.size() : subjects.hosts;
  for (std::size_t i = links ? subjects.hosts : 0; i < behind; ++i) {
    if (fits(pattern, subjects.names[i])) found.push_back(i);
  }
  if (found.empty()) {
    throw std::invalid_argument(links ? "no link of the platform is called '" + pattern + "'"
                                      : "no host of a worker or of the aggregator is called '" + pattern + "'");
  }
  return found;
}

auto contents(const spec::RandomFailureSpec& one) {
  return std::tie(one.links, one.nodes, one.match, one.mean_up, one.shape, one.mean_down);
}
auto contents(const AvailabilitySpec& one) {
  return std::tie(one.by, one.hosts, one.from, one.until, one.spread, one.period, one.on, one.off, one.shape, one.file,
                  one.chance, one.drop_out, one.returns);
}

/// Sorted by their contents: elements of a scenario mean the same in any order.
template <class Rule>
std::vector<Rule> in_order(std::vector<Rule> rules) {
  std::ranges::stable_sort(rules, [](const Rule& a, const Rule& b) { return contents(a) < contents(b); });
  return rules;
}

}  // namespace

OutageSubjects::OutageSubjects(const Outages& outages) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < outages.hosts.size(); ++i) {
    const std::string& host = outages.hosts[i];
    const auto [position, added] = known.try_emplace(host, names.size());
    if (added) names.push_back(host);
    if (added && !outages.on.empty()) on.push_back(outages.on.at(i));
    of_node.push_back(position->second);
  }
  hosts = names.size();
  names.insert(names.end(), outages.links.begin(), outages.links.end());
}

std::vector<OutageRule> outage_rules(const Outages& outages, const OutageSubjects& subjects) {
  std::vector<OutageRule> rules;
  const auto stream = [&](std::size_t subject, std::size_t number) {
    constexpr std::uint32_t kLink = 0x80000000U;
    const auto of = static_cast<std::uint32_t>(subject < subjects.hosts ? subject : (subject - subjects.hosts) | kLink);
    return RandomStream(outages.seed, Purpose::outages, of, static_cast<std::uint32_t>(number));
  };
  // How many rules of a kind a host or link has had: what is drawn of it does not depend on rules that are of others.
  std::map<std::size_t, std::size_t> random_rules, availability_rules;
  const auto fit = [&](bool links, const std::string& pattern) { return subjects_that_fit(subjects, links, pattern); };
  const auto together = [&](const auto& one) {
    if (one.nodes) return nodes_that_fit(subjects, one.match);
    std::vector<Together> each;
    for (const std::size_t i : fit(one.links, one.match)) each.push_back({i, {i}});
    return each;
  };
  const auto of_hosts =
      static_cast<std::size_t>(std::ranges::count(outages.what.random, false, &spec::RandomFailureSpec::links));
  for (const spec::RandomFailureSpec& one : in_order(outages.what.random)) {
    // Hosts of a node draw the same numbers, so that they go and come at the same dates.
    for (const Together& node : together(one)) {
      const std::size_t number = random_rules[node.first]++ + (one.links ? of_hosts : 0);
      for (const std::size_t i : node.all) rules.push_back({i, random_failures(one, stream(node.first, number))});
    }
  }
  for (const spec::OutageSpec& one : outages.what.outages) {
    double later = 0;
    for (const Together& node : together(one)) {
      for (const std::size_t i : node.all) rules.push_back({i, listed_outage(one, later)});
      later += one.stagger;
    }
  }
  for (const AvailabilitySpec& one : in_order(outages.what.availability)) {
    std::map<std::string, std::vector<AvailabilitySpec::Change>> changes;
    for (const AvailabilitySpec::Change& change : one.changes) changes[change.host].push_back(change);
    for (const std::size_t i : fit(false, one.hosts)) {
      const std::size_t number = outages.what.random.size() + outages.what.outages.size() + 2 * availability_rules[i]++;
      if (one.by == AvailabilitySpec::By::diurnal) rules.push_back({i, diurnal(one, stream(i, number))});
      if (one.by == AvailabilitySpec::By::sessions) rules.push_back({i, sessions(one, stream(i, number))});
      if (one.by == AvailabilitySpec::By::file) {
        rules.push_back({i, listed_changes(std::move(changes[subjects.names[i]]))});
      }
      if (one.drop_out == 0) continue;
      // A stream of its own: with or without drop-outs a host is there at the same times.
      auto drop_out = std::make_unique<DropOut>(one.drop_out, one.returns, stream(i, number + 1));
      DropOut* const decided = drop_out.get();
      rules.push_back({i, std::move(drop_out), decided});
    }
  }
  for (const spec::StateProfileSpec& one : outages.profiles) {
    const std::size_t behind = one.links ? subjects.names.size() : subjects.hosts;
    for (std::size_t i = one.links ? subjects.hosts : 0; i < behind; ++i) {
      if (subjects.names[i] == one.name) rules.push_back({i, profile_changes(one)});
    }
  }
  return rules;
}

}  // namespace dadsim::world
