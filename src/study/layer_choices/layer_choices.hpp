#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "schedule/assignment.hpp"
#include "sim/simulator.hpp"
#include "spec/specification.hpp"
#include "step/trajectory.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// What the layers of the timed network take in a run whose steps have alternatives, per structure of its trajectory;
/// empty where they have none. It is chosen once for all steps.
///
/// Where bytes decide, those are taken that send the fewest in the first step. Where time decides, plans are proposed
/// and the one whose step the simulation of the cluster finds the quickest is taken: the uniform ones, the one of the
/// fewest bytes, and the best sums of prices of every way up, every way down and every computation, with several
/// weights on each, since in a step these overlap. Prices are the simulation's own: seconds of single collectives and
/// computations. From the quickest plan on, layers are then changed as long as steps get quicker by it. A plan is tried
/// on two steps of the run; the best ones and the uniform ones are tried on up to 16 more, spread over it, and those
/// decide.
std::vector<step::Assignment> choose_alternatives(const spec::RunSpec& run, const step::Trajectory& trajectory,
                                                  const spec::ModelShape& learned, const TimedAs& timed,
                                                  const sim::Cluster& cluster);

/// Whether layers of the run may choose what loses something.
bool may_be_settled(const spec::RunSpec& run);

/// The run as it is to be learned: where layers may choose what loses something, those that do not on this cluster are
/// learned exactly. They are found from first steps; each gets a rule in RunSpec::share.
spec::RunSpec settled(const spec::RunSpec& run, const spec::ModelShape& learned, const TimedAs& timed,
                      const sim::Cluster& cluster, const std::function<step::Trajectory()>& learn_first_steps);

/// The same in names, of the run's first structure; layers with an outer product, input first.
std::vector<report::LayerStatistic> statistics_of(const step::Trajectory& trajectory,
                                                  const std::vector<step::Assignment>& assignment,
                                                  const spec::ModelShape& timed);

}  // namespace dadsim::study
