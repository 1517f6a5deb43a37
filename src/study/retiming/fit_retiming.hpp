#pragma once

#include <vector>

#include "report/run/result.hpp"
#include "report/run/retiming.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Fits the step times of all runs that are not event-driven, as functions of a few factors on the scenario's values:
/// the bandwidths of the two busiest kinds of links, all latencies and the speed of the workers. `result`: the result
/// of the scenario itself.
///
/// Times a few steps of each run on up to some hundred clusters, all runs of a cluster in one simulation. Then times
/// more steps on clusters outside the fit. If a run's error there is above 3 %, these clusters join the fit and others
/// are drawn. If the error stays too large, the range of the factors shrinks. Choices of layers and collectives that
/// the scenario leaves open are made for each timed cluster, and otherwise kept as in the scenario. Fits nothing, with
/// a reason, if equal steps take different times, if the simulations would take long, or if a simulation or the fit
/// fails (Retiming::failure). Throws EnvironmentError, Cancelled.
report::Retiming fit_retiming(const scenario::Scenario& scenario, const Learned& learned, const report::Result& result,
                              bool show_progress);

/// Changes a cluster by its knobs: `at` holds the base-2 logarithm of each knob's factor.
void turn(const report::Retiming& retiming, const std::vector<double>& at, sim::Cluster& cluster);

}  // namespace dadsim::study
