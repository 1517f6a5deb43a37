#pragma once

#include <string>

#include "collectives/collective.hpp"
#include "step/schedule.hpp"

namespace dadsim::sim {

/// A schedule's collective as the collectives' folder knows it.
struct Request {
  collectives::CollectiveRequest collective;
  std::string algorithm;
  collectives::RankLayout layout;  ///< with the aggregator as the last rank, on a node of its own, where it takes part
};

/// Gathers and broadcasts go straight to and from the aggregator.
Request request_of(const step::CollectiveTask& task, const collectives::RankLayout& workers);

}  // namespace dadsim::sim
