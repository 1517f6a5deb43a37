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

/// Who is the quickest, and at how many points.
struct ProtocolLog {
  std::vector<std::string> labels;  // those with the most points first, as they stand in the scenario where alike
  std::map<std::string, std::int64_t> won;
  std::int64_t open = 0;    // points where the quickest is not told apart from others
  std::int64_t nobody = 0;  // points where no run reaches the target
};

ProtocolLog tally_of(const std::vector<PointOutcome>& all);

/// Paths as short as they can be told apart: from the end on.
std::vector<std::string> short_paths(const std::vector<SweepColumn>& columns);

/// Whether what is timed has samples that are sequences.
bool counts_tokens(const SweepResults& results);

/// Which point is the best, where one run is timed, or points do other work.
std::optional<report::Statement> best_statement(const SweepResults& results, const std::vector<PointOutcome>& all);

/// Two points are a question: how much quicker is each run at the second? Empty where there are not two.
std::vector<report::Statement> two_points(const SweepResults& results, const std::vector<PointOutcome>& all);

}  // namespace dadsim::study
