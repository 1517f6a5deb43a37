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

/// How a network is divided among the devices of a scenario, at a global batch that is given.
struct Layout {
  spec::ParallelismSpec how;
  std::int64_t replicas = 1;  ///< that share gradients
  std::int64_t batch = 1;     ///< samples of a replica per step
  std::vector<std::string> taken_back = {};  ///< "timed-as.tensor=": what the scenario writes and this one lacks
  bool operator==(const Layout&) const = default;
};

/// What a step goes into, seconds each: they add up to it.
struct StepParts {
  double computing = 0;
  double tensor = 0;    ///< sums among the devices of a layer, which they wait for
  double bubble = 0;    ///< stages that stand still until something comes
  double exchange = 0;  ///< gradients and parameters among replicas, as far as computing does not hide them
  double total() const { return computing + tensor + bubble + exchange; }
};

/// A layout with what it takes.
struct LayoutTrial {
  Layout layout;
  double bytes = 0;    ///< of memory, on the device that needs most
  StepParts estimate;  ///< by the closed form
  std::optional<RunResult> simulated = {};
  StepParts parts = {};  ///< of the simulated step: what is not computing as the closed form divides it
  bool written = false;  ///< it is what the scenario has
};

/// A layout that was to be simulated and could not be.
struct FailedLayout {
  Layout layout;
  std::string fault;  ///< the message of the error
};

/// What a search for layouts came to.
struct LayoutReport : ReportHead {
  std::string workload, run, device;
  std::int64_t devices = 0, global_batch = 0;
  double device_bytes = 0;           ///< memory of a device; 0: not known
  double most_bytes = 0;             ///< that a device may hold beside that; 0: no limit
  double margin = 0;                 ///< share of it that is left free
  std::size_t divisible = 0;         ///< layouts that divide evenly
  std::size_t fitting = 0;           ///< of them, in the memory with its margin
  std::vector<FailedLayout> failed;  ///< that were to be simulated and could not be
  std::vector<LayoutTrial> trials;   ///< simulated, the quickest first
  std::size_t tied = 1;              ///< the first so many cannot be told apart from the first
  std::vector<std::size_t> front;    ///< of trials: none is quicker with less memory; the quickest first
  std::optional<LayoutTrial> roomy;  ///< the quickest by the closed form of those that do not fit, if quicker than all
  /// The layout of the scenario where it does not fit, and so is not among the trials that are ranked.
  std::optional<LayoutTrial> unfit;
  std::vector<std::string> fixed;    ///< "tensor=8": what all layouts that are asked for have
  std::vector<LayoutTrial> unasked;  ///< the layout of the scenario where it has not all of that; simulated, not ranked

  bool fits(double bytes) const {
    return (device_bytes == 0 || bytes <= device_bytes * (1 - margin)) && (most_bytes == 0 || bytes <= most_bytes);
  }
};

inline constexpr std::size_t kBestLayouts = 5;  ///< that are listed

/// By which share a step that was simulated by flow may be wrong, as ranks come late or collectives share links.
double doubt_of(const RunResult& run);

/// A part of a sentence.
Statement statement_of(const Layout& layout);
/// "timed-as.tensor=8", as --set takes them; what is the default of the language is left out.
std::vector<std::string> assignments_of(const Layout& layout);
/// What is found, what bounds it, and how what is written stands to it.
std::vector<Statement> answer_of(const LayoutReport& report);

/// Every member is documented in docs/layout.md.
Document document_of(const LayoutReport& report);

}  // namespace dadsim::report
