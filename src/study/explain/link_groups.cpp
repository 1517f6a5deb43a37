#include "study/explain/link_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/run/causes.hpp"
#include "sim/platform.hpp"
#include "support/human.hpp"

namespace dadsim::study {

void LinkGroup::add(const step::LinkUse& use) {
  if (std::ranges::find(links, use.link) == links.end()) links.push_back(use.link);
  least_bandwidth = std::min(least_bandwidth, use.bandwidth);
  most_bandwidth = std::max(most_bandwidth, use.bandwidth);
  least_latency = std::min(least_latency, use.latency);
  most_latency = std::max(most_latency, use.latency);
  busy_share = std::max(busy_share, use.busy_share);
}

std::string pattern_of_link(const std::string& direction) {
  return report::with_numbers_open(report::name_of_link(direction));
}

namespace {

std::string range_in_words(double least, double most, std::string (*in_words)(double)) {
  return least == most ? in_words(least) : fmt::format("{} to {}", in_words(least), in_words(most));
}

}  // namespace

std::string links_in_words(const LinkGroup& group) {
  const std::string numbers =
      fmt::format("{}, {}", range_in_words(group.least_bandwidth, group.most_bandwidth, sim::rate_in_words),
                  range_in_words(group.least_latency, group.most_latency, human_seconds));
  const bool one = report::name_of_link(group.links.front()) == report::name_of_link(group.links.back());
  if (one) return fmt::format("{} ({})", report::name_of_link(group.links.front()), numbers);
  return fmt::format("the links {} ({}; {} directions)", group.pattern, numbers, group.links.size());
}

}  // namespace dadsim::study
