#pragma once

#include <vector>

#include "report/run/result.hpp"
#include "report/run/retiming.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Fits the times of the steps of all runs that are not event-driven, over the bandwidth of the two busiest kinds of
/// links, all latencies and the speed of the workers, each by factors around what the scenario says. `result` is of the
/// scenario itself.
///
/// A few steps of each run are timed on up to some hundred clusters, all runs on one cluster in one simulation, then
/// more steps on clusters that nothing is fitted to. Where a run is off by more than 3 % there, these join those that
/// it is fitted to and others are drawn; where that does not help either, knobs reach less far. What layers choose, and
/// how collectives are carried out where that is left open, is what it is on the cluster in question and on the
/// scenario's own, in this order. Nothing is fitted, with a reason, where equal steps take different times or so many
/// simulations would take long; nor where the simulation of another cluster fails, or the fit does
/// (Retiming::failure). Throws EnvironmentError, Cancelled.
report::Retiming fit_retiming(const scenario::Scenario& scenario, const Learned& learned, const report::Result& result,
                              bool show_progress);

/// Turns the knobs of a cluster: `at` holds the base-2 logarithm of each one's factor.
void turn(const report::Retiming& retiming, const std::vector<double>& at, sim::Cluster& cluster);

}  // namespace dadsim::study
