#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/groups.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/collective_requests.hpp"
#include "support/statement.hpp"

namespace dadsim::sim {

/// Whether the algorithm of a request is the quickest of those that fit: where that is asked for, and for `auto` among
/// clusters that a WAN joins. No library has a rule for these, and what their formulas take may be thirty times slower.
bool is_compared(const Request& request, const std::vector<simgrid::s4u::Host*>& hosts);

/// What `best` stands for, and what it was compared with.
struct BestCollective {
  std::string algorithm;
  Statement compared;
};

/// The quickest of the algorithms that fit all of the requests, which belong to one collective: all are estimated by
/// their closed forms, the few that come out quickest and the choice of `auto` are timed by flow, and the first of the
/// quickest is taken. Where a WAN joins clusters the ring is timed too: its closed form has a WAN's latency in each
/// round, though only a few of the rounds that follow one another go over it. `hosts`: of the ranks that groups name.
/// What has too many messages for that is left out.
BestCollective best_collective(const std::vector<Request>& requests, const std::vector<simgrid::s4u::Host*>& hosts,
                               Interconnect& network);

/// Which of the algorithms and protocols of the ranks' library is quicker by more than a tenth than `taken`,
/// and how people set it; nothing: none, or there are too many ranks or messages to look. Timed by flow.
std::optional<Statement> quicker_of_library(const collectives::CollectiveRequest& request, const std::string& taken,
                                            const collectives::RankLayout& layout,
                                            const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network);

}  // namespace dadsim::sim
