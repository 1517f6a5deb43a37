#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "study/learning/learned.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/sweep/database.hpp"
#include "study/sweep/open_sweep.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

struct SweepOptions {
  std::size_t threads = 1;    ///< simulations at a time
  bool learn_only = false;    ///< time nothing
  bool retry_failed = false;  ///< points that failed before are tried again
  bool any_build = false;     ///< also what another build of dadsim learned
  bool keep_weights = true;   ///< in the file: of event-driven runs, beside evaluations
  std::string learned{};      ///< a file of results whose learning is used; may be empty
  bool show_progress = false;
  /// What simulations of this process learned before; none: nothing.
  std::shared_ptr<MemoryHistoryStore> memory{};
  std::map<std::uint64_t, LearnedRunPtr> offered{};  ///< runs that others learned for these trials
};

struct SweepProgressNumbers {
  std::int64_t trials = 0;                                    ///< points of the shard times seeds
  std::int64_t before = 0;                                    ///< of them there already
  std::int64_t finished = 0;                                  ///< now
  std::int64_t failed = 0;                                    ///< in the file altogether
  std::int64_t learned = 0;                                   ///< runs, now
  std::int64_t plays = 0;                                     ///< runs that were simulated: event-driven ones
  std::int64_t operations_learned = 0, operations_found = 0;  ///< of these
};

/// Trials that learn the same: points of one learning problem, with one seed.
struct SweepBatch {
  std::int64_t seed = 0;            ///< from 0
  std::vector<std::size_t> points;  ///< indices
};

/// The scenario of a point with its seed number `seed`.
using ScenarioOfTrial = std::function<scenario::Scenario(std::size_t point, std::int64_t seed)>;

/// What the shard has still to do, in the order in which it is learned.
std::vector<SweepBatch> open_batches(const SweepPoints& sweep, Database& database, const Shard& shard);

/// Learns and times these trials, of which `database` has none; else as run_sweep(). `learned`, if there is one, is a
/// file of results whose learning is used. Numbers are those of these trials, and of all in `database`.
SweepProgressNumbers run_batches(const ScenarioOfTrial& scenario_of, const std::vector<SweepBatch>& batches,
                                 Database& database, Database* learned, const SweepOptions& options);

/// Learns and times what `database` lacks, every trial in a transaction of its own: whenever the process ends, what is
/// finished is kept, and the next call goes on. A trial that cannot be simulated is noted as failed; where the system
/// fails, or a file is no more what it was when the points were read, nothing is. Throws OutputError, EnvironmentError,
/// InputError where `learned` is not to be had, Cancelled.
SweepProgressNumbers run_sweep(const SweepPoints& sweep, Database& database, const Shard& shard,
                               const SweepOptions& options);

}  // namespace dadsim::study
