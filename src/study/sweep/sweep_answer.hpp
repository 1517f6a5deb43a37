#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/words/statement.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/winners.hpp"

namespace dadsim::study {

/// Winners of the points.
struct ProtocolLog {
  std::vector<std::string> labels;  // the most points first; equal numbers in the order of the scenario
  std::map<std::string, std::int64_t> won;
  std::int64_t open = 0;    // points whose quickest run cannot be distinguished from others
  std::int64_t nobody = 0;  // points at which no run reaches the target
};

ProtocolLog tally_of(const std::vector<PointOutcome>& all);

/// Returns the shortest endings of paths that distinguish them.
std::vector<std::string> short_paths(const std::vector<SweepColumn>& columns);

/// Returns whether the timed workload's samples are sequences.
bool counts_tokens(const SweepResults& results);

/// Returns the best point, if one run is timed, or points do different work.
std::optional<report::Statement> best_statement(const SweepResults& results, const std::vector<PointOutcome>& all);

/// Compares exactly two points: the speed of each run at the second relative to the first. Empty otherwise.
std::vector<report::Statement> two_points(const SweepResults& results, const std::vector<PointOutcome>& all);

}  // namespace dadsim::study
