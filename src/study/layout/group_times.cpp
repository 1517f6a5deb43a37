#include "study/layout/group_times.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "sim/platform.hpp"
#include "study/trials/outcome.hpp"

namespace dadsim::study {
namespace {

constexpr std::array kSizes{65'536.0, 8'388'608.0, 536'870'912.0};  // bytes per rank
constexpr std::size_t kMostRanks = 256;  // largest number of ranks simulated; with more ranks, the time of the smallest
                                         // size is extrapolated by rounds

/// Returns the bytes that a rank of a ring all-reduce sends per byte of the vector.
double ring_share(std::size_t ranks) { return 2.0 * static_cast<double>(ranks - 1) / static_cast<double>(ranks); }

}  // namespace

GroupTimes::GroupTimes(const sim::Cluster& cluster) : cluster_(cluster) {
  cluster_.flow_alone = false;  // groups are small enough to simulate messages too
  cluster_.aggregator_host.clear();
  cluster_.framework = {};  // a framework has no part in collectives inside a group
  std::map<std::string, int> nodes;
  for (const sim::PlatformHost& host : sim::platform_hosts(cluster.platform)) nodes[host.name] = host.node;
  for (const std::string& host : cluster.hosts) node_of_.push_back(nodes.at(host));
}

double GroupTimes::Curve::at(double bytes) const {
  std::size_t upper = 1;
  while (upper + 1 < points.size() && points[upper].first < bytes) ++upper;
  const auto& [b0, t0] = points[upper - 1];
  const auto& [b1, t1] = points[upper];
  if (bytes <= points.front().first) return t0;
  return t0 + (bytes - b0) * (t1 - t0) / (b1 - b0);
}

/// Returns the number of groups of this kind that have devices in the first node; 1 if a group does not leave the node.
std::size_t GroupTimes::sharing(const Group& group) const {
  const auto& [ranks, stride] = group;
  std::size_t own = 0;
  bool leaves = false;
  for (std::size_t i = 0; i < ranks; ++i) {
    const bool here = node_of_.at(i * stride) == node_of_.front();
    own += here ? 1 : 0;
    leaves = leaves || !here;
  }
  const auto in_node = static_cast<std::size_t>(std::ranges::count(node_of_, node_of_.front()));
  return leaves ? std::max<std::size_t>(1, in_node / own) : 1;
}

const GroupTimes::Curve& GroupTimes::curve_of(const Group& group, step::CollectiveKind kind) {
  const auto known = curves_.find({kind, group});
  if (known != curves_.end()) return known->second;
  if (prepares_)
    return curves_.emplace(std::pair(kind, group), Curve{{{kSizes.front(), 1}, {kSizes.back(), 2}}}).first->second;
  const Asked asked{kind, group};
  return curves_.emplace(asked, std::move(curves_of({&asked, 1}).front())).first->second;
}

void GroupTimes::prepare(const std::function<void()>& ask) {
  prepares_ = true;
  ask();
  prepares_ = false;
  std::vector<Asked> asked;
  for (const auto& [one, unknown] : curves_) asked.push_back(one);
  curves_.clear();
  const std::size_t parts = std::min(asked.size(), std::max<std::size_t>(1, thread_limit()));
  std::vector<std::vector<Asked>> dealt(parts);
  for (std::size_t i = 0; i < asked.size(); ++i) dealt[i % parts].push_back(asked[i]);
  std::vector<std::vector<Curve>> made(parts);
  parallel_for_forks(parts, [&](std::size_t part) { made[part] = curves_of(dealt[part]); });
  for (std::size_t i = 0; i < asked.size(); ++i) curves_.emplace(asked[i], std::move(made[i % parts][i / parts]));
}

/// Simulates the groups, one after the other on one loaded platform.
std::vector<GroupTimes::Curve> GroupTimes::curves_of(std::span<const Asked> asked) const {
  std::vector<sim::CollectiveJob> jobs;
  for (const auto& [kind, group] : asked) {
    const auto& [ranks, stride] = group;
    const std::size_t simulated = std::min(ranks, kMostRanks);
    std::vector<std::size_t> workers;
    for (std::size_t i = 0; i < simulated; ++i) workers.push_back(i * stride);
    for (const double bytes : kSizes) {
      collectives::CollectiveRequest request;
      request.kind = kind;
      request.bytes = {kind == step::CollectiveKind::all_to_all ? bytes / static_cast<double>(simulated) : bytes};
      jobs.push_back({.request = std::move(request), .ranks = workers});
    }
  }
  const sim::TimedCollectives timed = sim::time_collectives(cluster_, jobs);
  std::vector<Curve> curves;
  for (const auto& [kind, group] : asked) {
    const std::size_t simulated = std::min(group.first, kMostRanks);
    Curve& curve = curves.emplace_back();
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      const double longer = i == 0 ? static_cast<double>(group.first) / static_cast<double>(simulated) : 1;
      const double seconds = timed.timings.at((curves.size() - 1) * kSizes.size() + i).seconds;
      curve.points.emplace_back(kSizes.at(i), seconds * longer);
    }
  }
  return curves;
}

double GroupTimes::all_to_all(std::size_t ranks, double bytes) {
  if (ranks < 2 || !(bytes > 0)) return 0;
  return curve_of({ranks, 1}, step::CollectiveKind::all_to_all).at(bytes * static_cast<double>(ranks));
}

double GroupTimes::all_reduce(std::size_t ranks, std::size_t stride, double bytes) {
  if (ranks < 2 || !(bytes > 0)) return 0;
  const Group group{ranks, stride};
  const double alone = curve_of(group).at(bytes);
  const std::size_t groups = sharing(group);
  if (groups == 1) return alone;
  const Group all{cluster_.hosts.size(), 1};
  // Scales the time if all groups together would send faster than one group of all devices. Rates in byte/s of one
  // device.
  const double large = kSizes.back();
  const double of_group = ring_share(ranks) * large / curve_of(group).points.back().second;
  const double of_all = ring_share(all.first) * large / curve_of(all).points.back().second;
  return alone * std::max(1.0, static_cast<double>(groups) * of_group / of_all);
}

}  // namespace dadsim::study
