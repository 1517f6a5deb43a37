#include "study/results/network_category.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace dadsim::study {
namespace {

constexpr double kSmall = 1 << 20;  // bytes: below, software takes more than links

}  // namespace

std::string category_of_messages(const step::NetworkUse& network, const CarriedMessages& carried) {
  std::set<std::string> transports;
  double queue = std::numeric_limits<double>::infinity();  // bytes
  for (const step::NetworkUse::LinkClass& link : network.links) {
    transports.insert(link.transport);
    if (link.transport == "tcp" && link.queue_bytes > 0) queue = std::min(queue, link.queue_bytes);
  }
  if (transports.contains("tcp")) {
    if (carried.gloo) return "network.gloo";
    return carried.at_once_bytes > queue ? "network.tcp-overflow" : "network.tcp";
  }
  if (!transports.contains("rdma") && !transports.contains("nvlink")) return "network.assumed";
  if (carried.most_bytes < kSmall) return "network.small";
  return transports.contains("rdma") ? "network.rdma" : "network.nvlink";
}

double bytes_at_once(const step::NetworkUse::Collective& collective, double workers) {
  if (collective.algorithm.find("ring") != std::string::npos || collective.algorithm.starts_with("gloo"))
    return collective.kind == "all-reduce" ? collective.most_bytes / workers : collective.most_bytes;
  return collective.most_bytes * std::max(1.0, workers - 1);
}

}  // namespace dadsim::study
