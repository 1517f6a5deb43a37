#include <algorithm>
#include <stdexcept>

#include "collectives/layouts.hpp"

namespace dadsim::collectives {

namespace {

/// Shares of the bandwidth for data: LL has 4 bytes of data and a 4-byte flag in every 8 bytes, LL128 has 8 bytes of
/// flags in 128.
constexpr double kLlShare = 0.5;
constexpr double kLl128Share = 120.0 / 128.0;

}  // namespace

double RankLayout::Channel::transfer(double bytes, Protocol protocol) const {
  const double whole = bytes / bandwidth;
  if (!(bulk_latency > 0)) return whole;
  switch (protocol) {
    case Protocol::by_message:
      return latency + whole / kLlShare < bulk_latency + whole ? whole / kLlShare : whole;
    case Protocol::ll:
      return whole / kLlShare;
    case Protocol::ll128:
      return ll128_latency > 0 ? whole / kLl128Share : whole;
    case Protocol::simple:
      return whole;
  }
  throw std::logic_error("unknown protocol");
}

double RankLayout::Channel::seconds(double bytes, Protocol protocol) const {
  const double whole = bytes / bandwidth;
  const double moved = transfer(bytes, protocol);
  if (!(bulk_latency > 0)) return latency + moved;
  switch (protocol) {
    case Protocol::by_message:
      return std::min(latency + whole / kLlShare, bulk_latency + whole);
    case Protocol::ll:
      return latency + moved;
    case Protocol::ll128:
      return (ll128_latency > 0 ? ll128_latency : bulk_latency) + moved;
    case Protocol::simple:
      return bulk_latency + moved;
  }
  throw std::logic_error("unknown protocol");
}

Rank RankLayout::nodes() const { return node_of.empty() ? 0 : *std::ranges::max_element(node_of) + 1; }

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

const RankLayout::Channel& slowest_channel(const RankLayout& layout) {
  const bool one_node = std::all_of(layout.node_of.begin(), layout.node_of.end(),
                                    [&](std::int32_t node) { return node == layout.node_of.front(); });
  return one_node ? layout.inside : layout.between;
}

}  // namespace dadsim::collectives
