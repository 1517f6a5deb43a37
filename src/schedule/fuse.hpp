#pragma once

#include "schedule/schedule.hpp"
#include "spec/specification.hpp"

namespace dadsim::schedule {

/// Gradient buckets as in PyTorch's DistributedDataParallel (Li et al., PyTorch Distributed, VLDB 2020, section 3.2.3):
/// consecutive all-reduces, even with computations between them, are merged into one, which starts when the last of
/// them is issued. A bucket is closed
///   - once it holds at least `bucket_bytes` at the worker with the largest number of bytes (the first bucket of the
///     schedule: `first_bucket_bytes`, if that is less),
///   - before a wait for one of its members,
///   - before a collective of another kind (except a broadcast), or an all-reduce by another algorithm or among other
///     workers,
///   - at the end of the schedule.
/// The bytes of a bucket are the sums of its members' bytes, and its layer is their range ("fc3 … fc1"). Waits for
/// members become one wait for the bucket, at the first of these waits. With 0 bytes, returns the schedule unchanged.
/// Throws std::invalid_argument for sizes that are negative or not a number.
Schedule fuse_all_reduces(const Schedule& schedule, double bucket_bytes,
                          double first_bucket_bytes = spec::kFirstBucketBytes);

}  // namespace dadsim::schedule
