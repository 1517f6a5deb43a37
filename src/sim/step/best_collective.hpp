#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/groups.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/collective_requests.hpp"
#include "support/statement.hpp"

namespace dadsim::sim {

/// Returns whether the algorithms of a request are compared: for `best`, and for `auto` among clusters connected by a
/// WAN. No library has a rule for the latter, and the choice by its formulas may be thirty times slower.
bool is_compared(const Request& request, const std::vector<simgrid::s4u::Host*>& hosts);

/// The algorithm chosen for `best`, and a statement of the comparison.
struct BestCollective {
  std::string algorithm;
  Statement compared;
};

/// Returns the quickest of the algorithms that support all requests, which belong to one collective. All are estimated
/// by their closed forms. The quickest few and the choice of `auto` are then timed by flow; of equal times the first is
/// taken. If a WAN connects clusters, the ring is timed too: its closed form counts a WAN's latency in each round,
/// though few consecutive rounds use the WAN. Algorithms with too many messages are left out. `hosts`: hosts of the
/// ranks named in groups.
BestCollective best_collective(const std::vector<Request>& requests, const std::vector<simgrid::s4u::Host*>& hosts,
                               Interconnect& network);

/// Returns the quickest of the library's algorithms and protocols, and how to set it, if it is more than a tenth
/// quicker than `taken`, timed by flow. Returns nothing if there is none, or too many ranks or messages to examine.
std::optional<Statement> quicker_of_library(const collectives::CollectiveRequest& request, const std::string& taken,
                                            const collectives::RankLayout& layout,
                                            const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network);

}  // namespace dadsim::sim
