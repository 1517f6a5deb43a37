#include "study/explain/link_groups.hpp"

#include <algorithm>

#include "report/run/causes.hpp"

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

report::Statement change_of(const char* kind, double factor, const LinkGroup& group) {
  const std::string first = report::name_of_link(group.links.front());
  const bool one = std::ranges::all_of(
      group.links, [&](const std::string& direction) { return report::name_of_link(direction) == first; });
  return report::Statement{kind, {one ? first : group.pattern}}
      .with("factor", factor)
      .with("bandwidth_low", group.least_bandwidth)
      .with("bandwidth_high", group.most_bandwidth)
      .with("latency_low", group.least_latency)
      .with("latency_high", group.most_latency)
      .with("directions", static_cast<double>(group.links.size()))
      .with("one_link", one);
}

}  // namespace dadsim::study
