#pragma once

#include <string>

#include "collectives/collective.hpp"
#include "plan/schedule.hpp"

namespace dadsim {

/// A schedule's collective as the collectives' folder knows it.
struct Request {
  CollectiveRequest collective;
  std::string algorithm;
  RankLayout layout;  ///< with the aggregator as the last rank, on a node of its own, where it takes part
};

/// Gathers and broadcasts go straight to and from the aggregator.
Request request_of(const CollectiveTask& task, const RankLayout& workers);

}  // namespace dadsim
