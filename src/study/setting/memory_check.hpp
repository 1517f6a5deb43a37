#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/memory.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// What a run needs on the worker that has the least memory, and how much that is.
struct RunMemory {
  estimate::MemoryUse use;
  /// Bytes below which nobody comes who says no more than the scenario does: the blocks of a transformer computed
  /// again, the loss and feed-forward networks in parts, and matrices that are cast kept as casts alone. Of networks
  /// without attention blocks are kept.
  double least = 0;
  std::string device;         ///< of that worker
  double available = 0;       ///< byte; 0 where no worker's is known
  bool some_unknown = false;  ///< for some worker it is not known
  bool checked = true;        ///< false for the reference ends, which stand for no real placement
};

/// What a run needs on one of so many workers when it is timed like this.
estimate::MemoryUse memory_of_workers(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                      const TimedAs& timed, std::int64_t workers);

/// Per run of the scenario, when it is timed like this.
std::vector<RunMemory> memory_of_runs(const scenario::Scenario& scenario, const TimedAs& timed);

/// What is wrong where not even the least that a run may need fits, with its breakdown; none: it may fit.
std::optional<Fault> fault_of_memory(const std::optional<spec::TimedAsSpec>& timed_as, const RunMemory& memory);

}  // namespace dadsim::study
