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

/// Returns the least bytes of this machine's memory needed to learn a run. Counts one network if all sites share it,
/// else one per site. Each takes its weights, their gradient, the optimizer's state, the outputs of layers for a batch,
/// and the samples. Event-driven runs add the clients' results until these enter a model. Measured peaks are up to a
/// half higher. Returns 0 if the layers do not fit the samples.
double host_bytes_of(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::SampleShape& sample);

/// Returns why a machine of `limit` bytes (0: unknown) cannot learn the runs of a scenario, with one run per thread at
/// a time; none: it can. A scenario without runs counts as one network.
std::optional<Fault> fault_of_host_memory(const scenario::Scenario& scenario, const spec::SampleShape& sample,
                                          double limit);

/// Memory that a run needs on the worker with the least memory, and the memory of that worker.
struct RunMemory {
  estimate::MemoryUse use;
  /// Lower bound in bytes for any program that fits the scenario. Transformer blocks are recomputed, the loss and
  /// feed-forward networks are computed in parts, and cast matrices are kept only as casts. Networks without attention
  /// keep their blocks.
  double least = 0;
  std::string device;                                ///< device of that worker
  double available = 0;                              ///< bytes; 0 if no worker's memory is known
  bool some_unknown = false;                         ///< true: the memory of some worker is unknown
  std::vector<estimate::MemoryMoment> moments = {};  ///< memory over a step
  bool checked = true;                               ///< false: a reference run, without a real placement
};

/// Returns the memory of a run on one of `workers` workers with this timing.
estimate::MemoryUse memory_of_workers(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                      const TimedAs& timed, std::int64_t workers);

/// Returns the memory of each run of the scenario with this timing.
std::vector<RunMemory> memory_of_runs(const scenario::Scenario& scenario, const TimedAs& timed);

/// Returns a fault with a breakdown if even the least memory of a run does not fit; none: it may fit.
std::optional<Fault> fault_of_memory(const std::optional<spec::TimedAsSpec>& timed_as, const RunMemory& memory);

}  // namespace dadsim::study
