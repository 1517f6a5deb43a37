#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/run/result.hpp"
#include "report/words/statement.hpp"
#include "spec/parallelism.hpp"

namespace dadsim::report {

/// The division of a network among the devices of a scenario, for a given global batch.
struct Layout {
  spec::ParallelismSpec how;
  std::int64_t replicas = 1;          ///< replicas that share gradients
  std::int64_t batch = 1;             ///< samples of a replica per step
  std::vector<std::string> set = {};  ///< settings for --set, "timed-as.tensor=8"; filled in for results
};

/// Parts of a step, seconds each, which add up to the step.
struct StepParts {
  double computing = 0;
  double tensor = 0;    ///< sums among the devices of a layer, not overlapped
  double bubble = 0;    ///< idle time of pipeline stages that wait for input
  double exchange = 0;  ///< exchange of gradients and parameters among replicas, not overlapped by computing
  double total() const { return computing + tensor + bubble + exchange; }
};

/// A layout and its results.
struct LayoutTrial {
  Layout layout;
  double bytes = 0;    ///< bytes of memory on the fullest device
  StepParts estimate;  ///< parts estimated in closed form
  std::optional<RunResult> simulated = {};
  StepParts parts = {};  ///< parts of the simulated step; time that is not computing is divided as in the closed form
  bool written = false;  ///< true: the scenario's own layout
};

/// A layout whose simulation failed.
struct FailedLayout {
  std::vector<std::string> set;  ///< settings of the layout (Layout::set)
  std::string fault;             ///< message of the error
};

/// The results of a search for layouts.
struct LayoutReport : ReportHead {
  std::string workload, run, device;
  std::int64_t devices = 0, global_batch = 0;
  double device_bytes = 0;           ///< bytes of a device's memory; 0: unknown
  double most_bytes = 0;             ///< limit on the bytes that a device may use; 0: no such limit
  double margin = 0;                 ///< share of the memory that is left free
  std::size_t divisible = 0;         ///< number of layouts that divide evenly
  std::size_t fitting = 0;           ///< number of these that fit into the memory with its margin
  std::vector<FailedLayout> failed;  ///< layouts whose simulation failed
  std::size_t too_large = 0;         ///< number of layouts selected but not simulated, because of the limit on work
  std::vector<LayoutTrial> trials;   ///< simulated layouts, the quickest first
  std::size_t tied = 1;              ///< number of layouts not distinguishable from the first, with the first
  std::vector<std::size_t> front;    ///< Pareto front of time and memory: indices of trials, the quickest first
  std::optional<LayoutTrial>
      roomy;  ///< the quickest layout by the closed form that does not fit, if quicker than all others
  /// The scenario's own layout if it does not fit the memory; it is not among the trials.
  std::optional<LayoutTrial> unfit;
  std::vector<std::string> fixed;  ///< settings requested for all layouts, "tensor=8"
  std::vector<LayoutTrial>
      unasked;  ///< the scenario's own layout if it lacks a requested setting; simulated, but not ranked

  bool fits(double bytes) const {
    return (device_bytes == 0 || bytes <= device_bytes * (1 - margin)) && (most_bytes == 0 || bytes <= most_bytes);
  }
};

inline constexpr std::size_t kBestLayouts = 5;  ///< largest number of layouts listed

/// Returns the share by which a step simulated by flow may be wrong because ranks arrive late or collectives share
/// links.
double doubt_of(const RunResult& run);

/// Returns the layout as a part of a sentence.
Statement statement_of(const Layout& layout);
/// Returns statements on the best layout, its bounds, and the rank of the scenario's own layout.
std::vector<Statement> answer_of(const LayoutReport& report);

/// Returns all sentences of the answer but the first, one per row, for the top of a page.
DocumentTable facts_of(const std::vector<Statement>& answer);

/// Returns the document; docs/layout.md documents every member.
Document document_of(const LayoutReport& report);

}  // namespace dadsim::report
