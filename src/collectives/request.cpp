#include "collectives/request.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace dadsim::collectives {
namespace {

bool takes_the_whole_vector(step::CollectiveKind kind) {
  return kind == step::CollectiveKind::all_reduce || kind == step::CollectiveKind::reduce_scatter ||
         kind == step::CollectiveKind::broadcast || kind == step::CollectiveKind::reduce;
}

std::optional<Fault> fault_of_bytes(const CollectiveRequest& request, Rank n) {
  const std::string given = std::to_string(request.bytes.size()) + " sizes";
  if (takes_the_whole_vector(request.kind)) {
    if (request.bytes.size() != 1) return Fault{given, "give one size, that of the whole vector"};
  } else if (request.bytes.size() != 1 && request.bytes.size() != static_cast<std::size_t>(n)) {
    return Fault{given + " for " + std::to_string(n) + " ranks", "give a size for each rank, or one size for all"};
  }
  for (const double size : request.bytes) {
    if (!std::isfinite(size) || size < 0) {
      return Fault{"a size of " + std::to_string(size) + " bytes", "use sizes that are finite and not negative"};
    }
  }
  if (!std::isfinite(request.segment_bytes) || request.segment_bytes < 0) {
    return Fault{"segments of " + std::to_string(request.segment_bytes) + " bytes",
                 "use more than 0 bytes, or 0 to let the algorithm choose"};
  }
  return {};
}

std::optional<Fault> fault_of_neighbours(const CollectiveRequest& request, Rank n) {
  if (request.neighbours.size() != static_cast<std::size_t>(n)) {
    return Fault{"neighbours of " + std::to_string(request.neighbours.size()) + " ranks, not of " + std::to_string(n),
                 "give every rank a list of its receivers, which may be empty"};
  }
  for (Rank rank = 0; rank < n; ++rank) {
    std::vector<Rank> peers = request.neighbours[static_cast<std::size_t>(rank)];
    std::sort(peers.begin(), peers.end());
    const std::string whose = "rank " + std::to_string(rank);
    if (!peers.empty() && (peers.front() < 0 || peers.back() >= n)) {
      const Rank stray = peers.front() < 0 ? peers.front() : peers.back();
      return Fault{whose + " has neighbour " + std::to_string(stray),
                   "neighbours are ranks from 0 to " + std::to_string(n - 1)};
    }
    if (std::binary_search(peers.begin(), peers.end(), rank)) {
      return Fault{whose + " is its own neighbour", "remove it: a rank cannot send to itself"};
    }
    if (const auto twice = std::adjacent_find(peers.begin(), peers.end()); twice != peers.end()) {
      return Fault{whose + " has neighbour " + std::to_string(*twice) + " twice", "list each edge once"};
    }
  }
  return {};
}

}  // namespace

std::optional<Fault> fault_in(const CollectiveRequest& request, Rank n) {
  if (n < 1) return Fault{"no ranks", "a collective needs one rank or more"};
  if (std::optional<Fault> fault = fault_of_bytes(request, n)) return fault;
  if (request.root < 0 || request.root >= n) {
    return Fault{"root " + std::to_string(request.root) + " is no rank",
                 "with " + std::to_string(n) + " ranks, use a root from 0 to " + std::to_string(n - 1)};
  }
  return request.kind == step::CollectiveKind::neighbour_exchange ? fault_of_neighbours(request, n) : std::nullopt;
}

BlockSizes one_block_per_rank(const CollectiveRequest& request, Rank ranks) {
  return request.bytes.size() == 1 ? BlockSizes(ranks, request.bytes.front()) : BlockSizes(request.bytes);
}

double counted_bytes(const CollectiveRequest& request, Rank ranks) {
  return takes_the_whole_vector(request.kind) ? request.bytes.front() : one_block_per_rank(request, ranks).total();
}

const char* messages_at_once(step::CollectiveKind kind) {
  switch (kind) {
    case step::CollectiveKind::gather:
    case step::CollectiveKind::scatter:
      return "flat";
    case step::CollectiveKind::all_to_all:
    case step::CollectiveKind::neighbour_exchange:
    case step::CollectiveKind::stage_send:
      return "direct";
    default:
      return nullptr;
  }
}

}  // namespace dadsim::collectives
