#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "scenario/document/load.hpp"

namespace dadsim::study {

/// Options of `dadsim layout`.
struct LayoutOptions {
  std::optional<std::int64_t> global_batch;  ///< none: that of the scenario
  double margin = 0.1;                       ///< share of a device's memory that is left free
  std::size_t simulated = 20;                ///< largest number of simulated layouts, in addition to the scenario's; 0:
                                             ///< none
  bool simulates_written = true;             ///< the scenario's own layout is simulated too
  /// Limit on the work (SimulationWork) of all simulations together, which bounds the time of an answer; 0: no limit.
  /// Beyond it, candidates are ranked by the closed form only.
  double most_work = 0;
  double most_bytes = 0;                                   ///< additional limit on the bytes of a device; 0: none
  std::string run;                                         ///< label of the run; empty: the first that communicates
  std::vector<std::pair<std::string, std::string>> fixed;  ///< attributes of <timed-as> that are not searched
};

/// Returns the number of devices of a node; 1 if nodes have different numbers of them.
std::int64_t devices_per_node(const scenario::Scenario& scenario);

/// Searches the fastest layout of the timed workload, on the scenario's devices and at its global batch. Estimates all
/// layouts that divide evenly in closed form. Simulates the most promising that fit the memory with its margin: the
/// fastest, the fastest of each kind (tensor, context, pipeline and expert parallelism, and sharding), some of the
/// Pareto front of time and memory, and those that may still beat the best after correcting the closed form by its
/// errors. `on_read`: called once the scenario is read. `show_progress`: prints progress on standard error. Throws
/// InputError, SimulationError, Cancelled.
report::LayoutReport search_layouts(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                    const LayoutOptions& options, bool show_progress,
                                    const std::function<void()>& on_read = {});

}  // namespace dadsim::study
