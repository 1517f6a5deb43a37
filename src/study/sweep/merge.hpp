#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/sweep/read_results.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Summary of a merged file.
struct MergedSweep {
  SweepIdentity identity;
  std::int64_t points = 0;            ///< complete points, with all seeds
  std::vector<std::int64_t> missing;  ///< numbers of points without some seed
  std::int64_t failed = 0;            ///< failed trials
  std::vector<Diagnostic> lost;       ///< data that could not be salvaged
};

struct MergeOptions {
  bool any_build = false;  ///< true: accepts files of different builds
  bool salvage = false;    ///< true: keeps the intact parts of damaged files
};

/// Merges the results of several files of the same sweep into a new file. The result equals the file of a single
/// process byte for byte, in any order of the files. A complete sweep keeps no weights of event-driven runs, because
/// nothing continues from them. The new file appears completely or not at all. Throws InputError if files belong to
/// different sweeps or builds, are damaged, or hold different results for the same trial; OutputError, Cancelled.
MergedSweep merge_sweeps(const std::string& out, const std::vector<std::string>& files,
                         const MergeOptions& options = {});

/// Copies the trials of `from` that `to` lacks, within a transaction of the caller. Calls `differs` for each trial with
/// different results. Throws Cancelled.
void copy_trials(ResultsReader& from, Database& to, const std::function<void(const TrialResults&)>& differs);

/// Rewrites a file of results with merge_sweeps(), so that its bytes do not depend on who wrote its parts and when.
/// Throws like merge_sweeps().
void put_in_order(const std::string& file);

}  // namespace dadsim::study
