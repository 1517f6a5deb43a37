#pragma once

#include <memory>
#include <string>

#include "study/sweep/database.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

/// What a file of results says of the sweep that it is of.
SweepIdentity identity_of(const SweepPoints& sweep, const Shard& shard);

/// Opens the file of results of a sweep, or makes it with all points of the shard. Throws InputError where it is of
/// another sweep, shard, version or build (unless `any_build`; then the file says both), is damaged or no file of a
/// sweep at all, before anything in it is changed; OutputError.
std::unique_ptr<Database> open_sweep(const std::string& path, const SweepPoints& sweep, const Shard& shard,
                                     bool any_build = false);

/// The file of a sweep whose learning is used; it is only read. Throws InputError where it is of another build (unless
/// `any_build`), damaged, or no file of a sweep.
std::unique_ptr<Database> open_learned(const std::string& path, bool any_build);

}  // namespace dadsim::study
