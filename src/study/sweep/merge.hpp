#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/sweep/read_results.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// What a merged file holds.
struct MergedSweep {
  SweepIdentity identity;
  std::int64_t points = 0;            ///< complete, all seeds
  std::vector<std::int64_t> missing;  ///< points that lack a seed or more
  std::int64_t failed = 0;            ///< trials
  std::vector<Diagnostic> lost;       ///< what could not be salvaged
};

struct MergeOptions {
  bool any_build = false;  ///< also files that different builds made
  bool salvage = false;    ///< of damaged files what is whole
};

/// Puts the results of several files of the same sweep into a new one, which then is as if one process had made it,
/// and the same bytes whatever the order of the files. Of a sweep that is complete it holds no weights of event-driven
/// runs: nothing is left that would go on from them.
/// The file appears whole or not at all. Throws InputError where files are of different sweeps or builds, are damaged,
/// or hold different results for the same trial; OutputError, Cancelled.
MergedSweep merge_sweeps(const std::string& out, const std::vector<std::string>& files,
                         const MergeOptions& options = {});

/// Puts the trials of `from` that `to` lacks into it, within a transaction of the caller's. Calls `differs` for one
/// that has other results there. Throws Cancelled.
void copy_trials(ResultsReader& from, Database& to, const std::function<void(const TrialResults&)>& differs);

/// Replaces a file of results by what merge_sweeps() makes of it alone: the same bytes, whoever has written what in it
/// and when. Throws as merge_sweeps() does.
void put_in_order(const std::string& file);

}  // namespace dadsim::study
