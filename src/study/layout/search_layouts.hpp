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
  std::size_t simulated = 20;                ///< most layouts, in addition to the scenario's; 0: none
  bool simulates_written = true;             ///< the scenario's own layout is simulated too
  /// Most work (SimulationWork) of all simulations together, which bounds the time of an answer; 0: no limit. The
  /// closed form alone ranks candidates beyond this limit.
  double most_work = 0;
  double most_bytes = 0;                                   ///< most additional bytes per device; 0: no limit
  std::string run;                                         ///< label; empty: the first that shares anything
  std::vector<std::pair<std::string, std::string>> fixed;  ///< attributes of <timed-as> that are not searched
};

/// Returns the devices of a node; 1 if nodes have different numbers of them.
std::int64_t devices_per_node(const scenario::Scenario& scenario);

/// Searches the fastest layout of the timed workload, on the scenario's devices and at its global batch. All layouts
/// that divide evenly are estimated in closed form. Of those that fit the memory with its margin, the most promising
/// are simulated: the fastest, the fastest of each kind (tensor, pipeline, sharding), and those that may still beat the
/// best once the closed form's error for their kind is corrected. `on_read`: called once the scenario is read.
/// `show_progress` on standard error. Throws InputError, SimulationError, Cancelled.
report::LayoutReport search_layouts(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                    const LayoutOptions& options, bool show_progress,
                                    const std::function<void()>& on_read = {});

}  // namespace dadsim::study
