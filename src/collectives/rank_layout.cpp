#include <algorithm>

#include "collectives/collective.hpp"

namespace dadsim::collectives {

double RankLayout::Channel::seconds(double bytes) const {
  const double whole = bytes / bandwidth;
  return bulk_latency > 0 ? std::min(latency + 2 * whole, bulk_latency + whole) : latency + whole;
}

double RankLayout::Channel::transfer(double bytes) const {
  const double whole = bytes / bandwidth;
  return bulk_latency > 0 && latency + 2 * whole < bulk_latency + whole ? 2 * whole : whole;
}

Rank RankLayout::ranks_per_node() const {
  Rank here = 0;
  while (here < ranks() && node_of[static_cast<std::size_t>(here)] == node_of.front()) ++here;
  return here;
}

bool RankLayout::is_hierarchical() const {
  const Rank each = ranks_per_node();
  if (each < 2 || each == ranks() || ranks() % each != 0) return false;
  for (Rank rank = 0; rank < ranks(); ++rank) {
    if (node_of[static_cast<std::size_t>(rank)] != rank / each) return false;
  }
  return true;
}

}  // namespace dadsim::collectives
