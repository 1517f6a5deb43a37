#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "report/html/page.hpp"
#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/cluster_of.hpp"

namespace dadsim::study {

/// Classes by site, dealt by the scenario's seed. Empty where nothing was learned, and where samples have
/// more than one label. Throws InputError where the data can no longer be read.
report::ClassTable class_table_of(const scenario::Scenario& scenario, const Learned& learned);

/// Steps of each run with a timeline.
struct TraceRequest {
  std::vector<std::int64_t> steps;  ///< rising, the first step of training is 1; empty: no timelines
};

/// Work of simulations by flow: tasks × devices of a stage (16 at least). Four times that if flow has doubts, as steps
/// are then timed several times.
struct SimulationWork {
  double most = std::numeric_limits<double>::infinity();  ///< limit of a step; whole steps above it are not simulated
  double done = 0;                                        ///< work of the steps simulated
  double whole = 0;                                       ///< work of the whole step
};

/// Returns the parts of a result that are known before timing; its runs are missing.
report::Result untimed_result(const scenario::Scenario& scenario, const Learned& learned);

/// Times learned runs on a cluster (the scenario's, or a changed one), and assembles the result. Learning is reused if
/// only the platform, its use or the timed network differ. `show_progress` on standard error. `shortens`: steps of many
/// micro-batches follow from shorter steps if flow times them (fewer_micro_batches). If flow has doubts, shorter steps
/// are lengthened until two agree, or up to `shortens->most`, and the step keeps the doubts. Throws SimulationError,
/// Cancelled.
report::Result time_scenario(const scenario::Scenario& scenario, const Learned& learned, const sim::Cluster& cluster,
                             bool show_progress, const TraceRequest& trace = {}, SimulationWork* shortens = nullptr);

/// Learns every run of the scenario that the store (may be null) lacks, or only records its steps if the scenario asks
/// for no more. Times the runs on the scenario's cluster. Throws InputError, SimulationError, and Cancelled when
/// interrupted() is set.
report::Result run_experiment(const scenario::Scenario& scenario, bool show_progress, LearningStore* store = nullptr);

}  // namespace dadsim::study
