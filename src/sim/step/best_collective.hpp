#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/groups.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/collective_requests.hpp"
#include "support/statement.hpp"

namespace dadsim::sim {

/// Returns whether the algorithms of a request are compared: for `best`, and for `auto` among clusters that a WAN
/// joins. No library has a rule for the latter, and the choice by its formulas may be thirty times slower.
bool is_compared(const Request& request, const std::vector<simgrid::s4u::Host*>& hosts);

/// The algorithm chosen for `best`, and the comparison.
struct BestCollective {
  std::string algorithm;
  Statement compared;
};

/// Returns the quickest of the algorithms that fit all requests, which belong to one collective. All are estimated by
/// their closed forms. The quickest few and the choice of `auto` are then timed by flow, and the first of the quickest
/// is taken. Where a WAN joins clusters the ring is timed too: its closed form counts a WAN's latency in each round,
/// though few consecutive rounds use the WAN. Algorithms with too many messages are left out. `hosts`: hosts of the
/// ranks that groups name.
BestCollective best_collective(const std::vector<Request>& requests, const std::vector<simgrid::s4u::Host*>& hosts,
                               Interconnect& network);

/// Returns the library's algorithms and protocols that are more than a tenth quicker than `taken`, and how to set them.
/// Returns nothing if there are none, or too many ranks or messages to examine. Timed by flow.
std::optional<Statement> quicker_of_library(const collectives::CollectiveRequest& request, const std::string& taken,
                                            const collectives::RankLayout& layout,
                                            const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network);

}  // namespace dadsim::sim
