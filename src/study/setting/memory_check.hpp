#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/memory.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "spec/sample_shape.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Bytes of this machine that learning a run takes at least: of each network that is there at a time its weights, their
/// gradient and what the optimizer keeps (one network where all sites share one, one for each site where they have
/// weights of their own), what the layers write for a batch, and the samples; of an event-driven run besides what
/// clients hold until it has gone into a model. Measured peaks lie up to a half above it. 0 where the layers do not fit
/// the samples.
double host_bytes_of(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::SampleShape& sample);

/// Why the runs of a scenario cannot be learned on a machine of `limit` bytes (0: nobody knows), as many side by side
/// as there are threads, none: they can. A scenario without runs is taken for one of a single
/// network.
std::optional<Fault> fault_of_host_memory(const scenario::Scenario& scenario, const spec::SampleShape& sample,
                                          double limit);

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
