#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::cli {

/// A sweep that other processes do.
struct SweepElsewhere {
  std::string scenario, out;
  std::string learned;  ///< the file whose learning they use; may be empty
  std::vector<std::string> overrides;
};

/// A command for each of `count` shards of the sweep, then, behind "# then:", the one that puts their files together;
/// quoted for a shell. For GNU parallel, HyperQueue, HTCondor. Throws UsageError where a name would not stay in its
/// line.
std::string commands_of_shards(const SweepElsewhere& sweep, std::int64_t count);

}  // namespace dadsim::cli
