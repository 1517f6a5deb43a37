#pragma once

namespace dadsim {

/// Returns the largest amount of memory, in bytes, that this process can use: the smallest of the machine's memory, the
/// limits of its control group and this group's ancestors (cgroup v2 memory.max or v1 memory.limit_in_bytes), and
/// RLIMIT_AS; 0 if all are unknown. Does not subtract memory that other processes use.
double memory_limit();

}  // namespace dadsim
