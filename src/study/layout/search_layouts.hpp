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

/// What `dadsim layout` is asked.
struct LayoutOptions {
  std::optional<std::int64_t> global_batch;                ///< none: that of the scenario
  double margin = 0.1;                                     ///< share of a device's memory that is left free
  std::size_t simulated = 20;                              ///< layouts at most, that of the scenario beside them; 0: none
  bool simulates_written = true;                           ///< that of the scenario is among them
  double most_bytes = 0;                                   ///< of a device, beside what it has; 0: no limit
  std::string run;                                         ///< label; empty: the first that shares anything
  std::vector<std::pair<std::string, std::string>> fixed;  ///< attributes of <timed-as> that are not searched
};

/// Looks for the quickest layout of what the scenario times, on its devices and at its global batch. All that divide
/// evenly are estimated in closed form; of those that fit the memory with its margin the most promising are simulated:
/// the quickest, the quickest of each kind (tensor, pipeline, sharding), and, with what the closed form was off for
/// their kind, what may still be quicker than the best. `on_read`: once the scenario is read. `show_progress` on
/// standard error. Throws InputError, SimulationError, Cancelled.
report::LayoutReport search_layouts(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                    const LayoutOptions& options, bool show_progress,
                                    const std::function<void()>& on_read = {});

}  // namespace dadsim::study
