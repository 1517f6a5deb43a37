#pragma once

#include <string>
#include <vector>

#include "collectives/groups.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/requests.hpp"

namespace dadsim::sim {

/// What `best` stands for, and what it was compared with, in words.
struct BestCollective {
  std::string algorithm;
  std::string compared;
};

/// The quickest of the algorithms that fit all of the requests, which belong to one collective: all are estimated by
/// their closed forms, the few that come out quickest and the choice of `auto` are timed by flow, and the first of the
/// quickest is taken. `hosts`: of the ranks that groups name. What has too many messages for that is left out.
BestCollective best_collective(const std::vector<Request>& requests, const std::vector<simgrid::s4u::Host*>& hosts,
                               Interconnect& network);

}  // namespace dadsim::sim
