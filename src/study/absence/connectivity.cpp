#include "study/absence/connectivity.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace dadsim::study {

Connectivity::Connectivity(const std::vector<sim::RouteLink>& routes,
                           const std::vector<std::vector<std::string>>& hosts, const std::string& server,
                           const std::vector<std::string>& links)
    : cut_(hosts.size()) {
  std::map<std::string, std::size_t> number;
  for (std::size_t link = 0; link < links.size(); ++link) number[links[link]] = link;
  std::map<std::pair<std::string, std::string>, Links> between;
  for (const sim::RouteLink& of : routes) {
    const auto found = number.find(of.link);
    if (found != number.end()) between[{of.from, of.to}].push_back(found->second);
  }
  const auto add_both_ways = [&](const std::string& a, const std::string& b, Links& into) {
    for (const Links& one : {between[{a, b}], between[{b, a}]}) into.insert(into.end(), one.begin(), one.end());
  };
  for (std::size_t site = 0; site < hosts.size(); ++site) {
    for (std::size_t i = 0; i < hosts[site].size(); ++i) {
      for (std::size_t j = i + 1; j < hosts[site].size(); ++j)
        add_both_ways(hosts[site][i], hosts[site][j], cut_[site]);
      if (!server.empty()) add_both_ways(hosts[site][i], server, cut_[site]);
    }
  }
  if (!server.empty()) return;
  pairs_.resize(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t j = i + 1; j < hosts.size(); ++j) {
      Links& both = pairs_[i].emplace_back();
      for (std::size_t device = 0; device < hosts[i].size(); ++device)
        add_both_ways(hosts[i][device], hosts[j][device], both);
    }
  }
}

bool Connectivity::is_up(const world::OutageCalendar& calendar, const Links& links) {
  return std::ranges::all_of(links, [&](std::size_t link) { return calendar.link_is_up(link); });
}

std::vector<bool> Connectivity::reached(const world::OutageCalendar& calendar,
                                        const std::vector<bool>& candidates) const {
  std::vector<bool> reached = candidates;
  for (std::size_t site = 0; site < cut_.size(); ++site) {
    reached[site] = reached[site] && is_up(calendar, cut_[site]);
  }
  if (pairs_.empty()) return reached;
  const std::size_t sites = cut_.size();
  std::vector<std::vector<bool>> meet(sites, std::vector<bool>(sites, false));
  std::vector<std::size_t> peers(sites, 0), order;
  for (std::size_t i = 0; i < sites; ++i) {
    if (!reached[i]) continue;
    order.push_back(i);
    for (std::size_t j = i + 1; j < sites; ++j) {
      if (!reached[j] || !is_up(calendar, pairs_[i][j - i - 1])) continue;
      meet[i][j] = meet[j][i] = true;
      ++peers[i], ++peers[j];
    }
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return peers[a] > peers[b]; });
  std::vector<std::size_t> group;
  for (const std::size_t site : order) {
    if (std::ranges::all_of(group, [&](std::size_t other) { return meet[site][other]; })) group.push_back(site);
  }
  reached.assign(sites, false);
  for (const std::size_t site : group) reached[site] = true;
  return reached;
}

}  // namespace dadsim::study
