#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::cli {

/// A sweep that other processes do.
struct SweepElsewhere {
  std::string scheduler;  ///< of Dask, e.g. "tcp://10.0.0.1:8786"
  std::string scenario, out, csv, report;
  std::string learned;  ///< of commands: the file whose learning they use; may be empty
  std::vector<std::string> overrides;
  bool quiet = false;
};

/// Becomes the program of Python that hands the sweep to Dask (python/dadsim/many.py); returns only by throwing
/// EnvironmentError, where there is no Python.
[[noreturn]] void become_client_of_dask(const SweepElsewhere& sweep);

/// A command for each of `count` shards of the sweep, then, behind "# then:", the one that puts their files together;
/// quoted for a shell. For GNU parallel, HyperQueue, HTCondor.
std::string commands_of_shards(const SweepElsewhere& sweep, std::int64_t count);

}  // namespace dadsim::cli
