#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "study/learning/learned.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/store/database.hpp"
#include "study/sweep/open_sweep.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

struct SweepOptions {
  std::size_t threads = 1;    ///< parallel simulations
  bool learn_only = false;    ///< true: learns, but times nothing
  bool retry_failed = false;  ///< true: repeats trials that failed before
  bool any_build = false;     ///< true: reuses learning of another build of dadsim
  bool keep_weights = true;   ///< true: keeps weights of event-driven runs in the file, in addition to evaluations
  std::string learned{};      ///< file of results whose learning is reused; empty: none
  bool show_progress = false;
  /// Learning from earlier simulations of this process; none: nothing to reuse.
  std::shared_ptr<HistoryMemory> memory{};
  std::map<std::uint64_t, LearnedRunPtr> offered{};  ///< runs that other processes learned for these trials
};

struct SweepProgressNumbers {
  std::int64_t trials = 0;                                    ///< points of the shard times seeds
  std::int64_t before = 0;                                    ///< trials already in the file
  std::int64_t finished = 0;                                  ///< trials finished by this call
  std::int64_t failed = 0;                                    ///< all failed trials in the file
  std::int64_t learned = 0;                                   ///< runs learned by this call
  std::int64_t plays = 0;                                     ///< simulated event-driven runs
  std::int64_t operations_learned = 0, operations_found = 0;  ///< operations of these runs: computed, and reused
};

/// Trials with the same learning: points of one learning problem, with one seed.
struct SweepBatch {
  std::int64_t seed = 0;            ///< from 0
  std::vector<std::size_t> points;  ///< point indices
};

/// Returns the scenario of a point with its seed number `seed`.
using ScenarioOfTrial = std::function<scenario::Scenario(std::size_t point, std::int64_t seed)>;

/// Returns the shard's open trials, in learning order.
std::vector<SweepBatch> open_batches(const SweepPoints& sweep, Database& database, const Shard& shard);

/// Learns and times these trials, which `database` lacks; otherwise like run_sweep(). `learned`, if any, is a file of
/// results whose learning is reused. Counts refer to these trials, except that `failed` counts all in `database`.
SweepProgressNumbers run_batches(const ScenarioOfTrial& scenario_of, const std::vector<SweepBatch>& batches,
                                 Database& database, Database* learned, const SweepOptions& options);

/// Learns and times whatever `database` lacks, every trial in its own transaction. Finished trials are kept even if the
/// process ends, and the next call continues. A trial that cannot be simulated is recorded as failed; nothing is
/// recorded if the system fails, or a file has changed since the points were read. Throws OutputError,
/// EnvironmentError, InputError if `learned` is unavailable, Cancelled.
SweepProgressNumbers run_sweep(const SweepPoints& sweep, Database& database, const Shard& shard,
                               const SweepOptions& options);

}  // namespace dadsim::study
