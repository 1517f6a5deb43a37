#pragma once

#include <memory>
#include <string>

#include "study/store/database.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

/// Returns the identity of a sweep, for its file of results.
SweepIdentity identity_of(const SweepPoints& sweep, const Shard& shard);

/// Opens the file of results of a sweep, or creates it with all points of the shard. Throws InputError, before any
/// change, if the file belongs to another sweep, shard, version or build (unless `any_build`; the file then lists
/// both), is damaged, or is no file of a sweep; OutputError.
std::unique_ptr<Database> open_sweep(const std::string& path, const SweepPoints& sweep, const Shard& shard,
                                     bool any_build = false);

/// Opens the file of a sweep whose learning is reused; it is only read. Throws InputError if it belongs to another
/// build (unless `any_build`), is damaged, or is no file of a sweep.
std::unique_ptr<Database> open_learned(const std::string& path, bool any_build);

}  // namespace dadsim::study
