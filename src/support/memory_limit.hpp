#pragma once

namespace dadsim {

/// Bytes of memory that this process can have at most: what the machine has, what its control group may take (cgroup
/// v2 memory.max or v1 memory.limit_in_bytes, of the group and those above it) and RLIMIT_AS, whichever is least; 0
/// where none of them is known. How much of it others use already is not in it.
double memory_limit();

}  // namespace dadsim
