#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/dadsim.hpp"
#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::api {

/// Returns settings in the form of `--set`.
inline std::vector<std::string> overrides_of(const Settings& settings) {
  std::vector<std::string> overrides;
  overrides.reserve(settings.size());
  for (const auto& [where, value] : settings) overrides.push_back(where + "=" + value);
  return overrides;
}

// Members of the interface's classes (pimpl).
inline namespace v1 {

struct Scenario::State {
  scenario::Scenario scenario;
};

struct Learned::State {
  study::LearningStore store;
};

struct Result::State {
  report::Result result;
  std::vector<std::string> assumptions;  ///< assumptions of the result, as sentences
  std::vector<Run> runs;
};

struct Sweep::State {
  /// Reads the number of points and of failures, and the results unless there are too many.
  explicit State(study::Database& database);
  std::size_t points = 0, failed = 0;
  std::string file;                            ///< file of the results
  std::optional<study::SweepResults> results;  ///< none: there are too many to hold
};

Result result_of(report::Result&& from);

}  // namespace v1
}  // namespace dadsim::api
