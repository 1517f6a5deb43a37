#pragma once

#include "schedule/schedule.hpp"
#include "spec/specification.hpp"

namespace dadsim::schedule {

/// Gradient buckets as in PyTorch's DistributedDataParallel (Li et al., PyTorch Distributed, VLDB 2020, section 3.2.3):
/// consecutive all-reduces, with computations between them or not, are carried out as one, when the last of them is
/// issued. A bucket is closed
///   - once it holds at least `bucket_bytes` (at the worker that sends most; the first of the schedule at least
///     `first_bucket_bytes`, if that is less),
///   - before a wait for one of its members,
///   - before a collective of another kind, or an all-reduce by another algorithm or among other workers,
///   - at the end of the schedule.
/// Its bytes are the sums of its members' bytes, its layer names their range ("fc3 … fc1"), and waits for members
/// become one wait for the bucket, at the first of them. 0 bytes: the schedule stays unchanged. Throws
/// std::invalid_argument for sizes that are negative or not a number.
Schedule fuse_all_reduces(const Schedule& schedule, double bucket_bytes,
                          double first_bucket_bytes = spec::kFirstBucketBytes);

}  // namespace dadsim::schedule
