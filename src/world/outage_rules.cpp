#include "world/outage_rules.hpp"

#include <map>
#include <stdexcept>
#include <utility>

#include "support/pattern.hpp"
#include "support/random.hpp"

namespace dadsim::world {
namespace {

using spec::AvailabilitySpec;

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

}  // namespace

OutageSubjects::OutageSubjects(const Outages& outages) {
  std::map<std::string, std::size_t> known;
  for (const std::string& host : outages.hosts) {
    const auto [position, added] = known.try_emplace(host, names.size());
    if (added) names.push_back(host);
    of_node.push_back(position->second);
  }
  hosts = names.size();
  names.insert(names.end(), outages.links.begin(), outages.links.end());
}

std::vector<OutageRule> outage_rules(const Outages& outages, const OutageSubjects& subjects) {
  std::vector<OutageRule> rules;
  std::uint32_t number = 0;
  const auto stream = [&](std::size_t subject) {
    constexpr std::uint32_t kLink = 0x80000000U;
    const auto of = static_cast<std::uint32_t>(subject < subjects.hosts ? subject : (subject - subjects.hosts) | kLink);
    return RandomStream(outages.seed, Purpose::outages, of, number);
  };
  const auto fit = [&](bool links, const std::string& pattern) { return subjects_that_fit(subjects, links, pattern); };
  for (const spec::RandomFailureSpec& one : outages.what.random) {
    for (const std::size_t i : fit(one.links, one.match)) rules.push_back({i, random_failures(one, stream(i))});
    ++number;
  }
  for (const spec::OutageSpec& one : outages.what.outages) {
    for (const std::size_t i : fit(one.links, one.match)) rules.push_back({i, one_outage(one)});
    ++number;
  }
  for (const AvailabilitySpec& one : outages.what.availability) {
    std::map<std::string, std::vector<AvailabilitySpec::Change>> changes;
    for (const AvailabilitySpec::Change& change : one.changes) changes[change.host].push_back(change);
    for (const std::size_t i : fit(false, one.hosts)) {
      if (one.by == AvailabilitySpec::By::diurnal) rules.push_back({i, diurnal(one, stream(i))});
      if (one.by == AvailabilitySpec::By::sessions) rules.push_back({i, sessions(one, stream(i))});
      if (one.by == AvailabilitySpec::By::file) {
        rules.push_back({i, listed_changes(std::move(changes[subjects.names[i]]))});
      }
      if (one.drop_out == 0) continue;
      // A stream of its own: with or without drop-outs a host is there at the same times.
      ++number;
      auto drop_out = std::make_unique<DropOut>(one.drop_out, one.returns, stream(i));
      --number;
      DropOut* const decided = drop_out.get();
      rules.push_back({i, std::move(drop_out), decided});
    }
    number += 2;
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
