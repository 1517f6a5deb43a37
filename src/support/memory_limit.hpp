#pragma once

namespace dadsim {

/// Returns the most bytes of memory that this process can have: the least of the machine's memory, its control group's
/// limit (cgroup v2 memory.max or v1 memory.limit_in_bytes, of the group and its ancestors) and RLIMIT_AS; 0 if all are
/// unknown. Memory used by other processes is not subtracted.
double memory_limit();

}  // namespace dadsim
