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

/// Chooses an alternative for each layer of the timed network, per structure of the run's trajectory, once for all
/// steps. Returns nothing if the steps have no alternatives.
///
/// If bytes decide, the choice sends the fewest bytes in the first step. If time decides, plans are proposed, and the
/// plan with the fastest simulated step wins. Proposals are the uniform plans, the plan of fewest bytes, and the best
/// weighted sums of prices of uplinks, downlinks and computations. Several weights are tried, since these overlap in a
/// step. Prices are simulated seconds of single collectives and computations. Starting from the fastest plan, layers
/// are then changed as long as steps get faster. A plan is tried on two steps of the run. The best plans and the
/// uniform ones are tried on up to 16 more, spread over the run, and these decide.
std::vector<step::Assignment> choose_alternatives(const spec::RunSpec& run, const step::Trajectory& trajectory,
                                                  const spec::ModelShape& learned, const TimedAs& timed,
                                                  const sim::Cluster& cluster);

/// Returns true if layers of the run may choose a lossy method.
bool may_be_settled(const spec::RunSpec& run);

/// Returns the run to learn. Layers that may choose a lossy method, but do not on this cluster, are learned exactly.
/// Timing first steps determines them; each gets a rule in RunSpec::share.
spec::RunSpec settled(const spec::RunSpec& run, const spec::ModelShape& learned, const TimedAs& timed,
                      const sim::Cluster& cluster, const std::function<step::Trajectory()>& learn_first_steps);

/// Names the choices of layers with an outer product in the run's first structure, input first.
std::vector<report::LayerStatistic> statistics_of(const step::Trajectory& trajectory,
                                                  const std::vector<step::Assignment>& assignment,
                                                  const spec::ModelShape& timed);

}  // namespace dadsim::study
