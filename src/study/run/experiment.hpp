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

/// Returns the classes of each site's samples, with the scenario's seed. Empty if nothing was learned, or if samples
/// have more than one label. Throws InputError if the data can no longer be read.
report::ClassTable class_table_of(const scenario::Scenario& scenario, const Learned& learned);

/// Steps whose timelines are recorded, for each run.
struct TraceRequest {
  std::vector<std::int64_t> steps;  ///< ascending, from 1; empty: no timelines
};

/// Work of simulations by flow: tasks × devices of a stage (at least 16). Four times as much if flow has doubts,
/// because steps are then timed several times.
struct SimulationWork {
  double most = std::numeric_limits<double>::infinity();  ///< limit on `done`; a whole step that would exceed it is not
                                                          ///< simulated
  double done = 0;                                        ///< work of the steps simulated
  double whole = 0;                                       ///< work of the whole step
};

/// Returns the parts of a result that are known before timing, without runs.
report::Result untimed_result(const scenario::Scenario& scenario, const Learned& learned);

/// Times learned runs on the scenario's cluster, or a changed one, and assembles the result. The same learning serves
/// scenarios that differ only in platform, its use, or the timed network. `show_progress`: prints progress on standard
/// error. `shortens`: if flow times the steps, those of many micro-batches are extrapolated from shorter steps
/// (fewer_micro_batches). If flow has doubts, shorter steps are lengthened until two agree, or up to `shortens->most`,
/// and the step keeps the doubts. Throws SimulationError, Cancelled.
report::Result time_scenario(const scenario::Scenario& scenario, const Learned& learned, const sim::Cluster& cluster,
                             bool show_progress, const TraceRequest& trace = {}, SimulationWork* shortens = nullptr);

/// Learns every run of the scenario that the store (may be null) lacks, or only records its steps if the scenario
/// requests timing only. Times the runs on the scenario's cluster. Throws InputError, SimulationError, and Cancelled
/// when interrupted() is set.
report::Result run_experiment(const scenario::Scenario& scenario, bool show_progress, LearningStore* store = nullptr);

}  // namespace dadsim::study
