#pragma once

#include <functional>
#include <vector>

#include "report/run/result.hpp"
#include "schedule/assignment.hpp"
#include "sim/simulator.hpp"
#include "spec/specification.hpp"
#include "step/trajectory.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Chooses an alternative for each layer of the timed network. The choice is made once for all steps, per structure of
/// the run's trajectory. Returns nothing if the steps have no alternatives.
///
/// A choice by bytes sends the fewest bytes in the first step. A choice by time simulates proposed plans and takes the
/// fastest. Proposals are the uniform plans, the plan of fewest bytes, and the best weighted sums of prices of uplinks,
/// downlinks and computations. Several weights are tried, because these overlap in a step. Prices are simulated seconds
/// of single collectives and computations. Layers of the fastest plan are then changed as long as steps get faster.
/// Each plan is tried on two steps of the run. The best and the uniform plans are tried on up to 16 more, spread over
/// the run, which decide.
std::vector<step::Assignment> choose_alternatives(const spec::RunSpec& run, const step::Trajectory& trajectory,
                                                  const spec::ModelShape& learned, const TimedAs& timed,
                                                  const sim::Cluster& cluster);

/// Returns true if layers of the run may choose a lossy method.
bool may_be_settled(const spec::RunSpec& run);

/// Returns the run to learn. Layers that may use a lossy method, but do not on this cluster, are learned exactly. The
/// first steps are timed to find these layers; each gets a rule in RunSpec::share.
spec::RunSpec settled(const spec::RunSpec& run, const spec::ModelShape& learned, const TimedAs& timed,
                      const sim::Cluster& cluster, const std::function<step::Trajectory()>& learn_first_steps);

/// Returns the names of the chosen alternatives per layer with an outer product, in the run's first structure, input
/// first.
std::vector<report::LayerStatistic> statistics_of(const step::Trajectory& trajectory,
                                                  const std::vector<step::Assignment>& assignment,
                                                  const spec::ModelShape& timed);

}  // namespace dadsim::study
