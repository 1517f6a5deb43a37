#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "study/sweep/database.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

/// Every `count`-th point of a sweep, from point `number` on.
struct Shard {
  std::int64_t number = 1;  ///< 1 … count
  std::int64_t count = 1;
  bool holds(std::int64_t point) const { return (point - number) % count == 0; }  ///< `point` counts from 1
};

struct SweepOptions {
  std::size_t threads = 1;    ///< simulations at a time
  bool learn_only = false;    ///< time nothing
  bool retry_failed = false;  ///< points that failed before are tried again
  bool any_build = false;     ///< also what another build of dadsim learned
  std::string learned{};      ///< a file of results whose learning is used; may be empty
  bool show_progress = false;
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

/// Opens the file of results of a sweep, or makes it with all points of the shard. Throws InputError where it is of
/// another sweep, shard, version or build (unless `any_build`; then the file says both), is damaged or no file of a
/// sweep at all, before anything in it is changed; OutputError.
std::unique_ptr<Database> open_sweep(const std::string& path, const SweepPoints& sweep, const Shard& shard,
                                     bool any_build = false);

/// The file of a sweep whose learning is used; it is only read. Throws InputError where it is of another build (unless
/// `any_build`), damaged, or no file of a sweep.
std::unique_ptr<Database> open_learned(const std::string& path, bool any_build);

/// Learns and times what `database` lacks, every trial in a transaction of its own: whenever the process ends, what is
/// finished is kept, and the next call goes on. A trial that cannot be simulated is noted as failed; where the system
/// fails, or a file is no more what it was when the points were read, nothing is. Throws OutputError, EnvironmentError,
/// InputError where `learned` is not to be had, Cancelled.
SweepProgressNumbers run_sweep(const SweepPoints& sweep, Database& database, const Shard& shard,
                               const SweepOptions& options);

}  // namespace dadsim::study
