#pragma once

#include <optional>
#include <string>

#include "api/dadsim.hpp"
#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"
#include "study/sweep/results.hpp"

// Members of the interface's classes, behind their pointers.

namespace dadsim::api::inline v1 {

struct Scenario::State {
  scenario::Scenario scenario;
};

struct Learned::State {
  study::LearningStore store;
};

struct Result::State {
  report::Result result;
  std::vector<std::string> assumptions;  ///< in words
  std::vector<Run> runs;
};

struct Sweep::State {
  /// Reads the number of points and of failures, and the results unless there are too many.
  explicit State(study::Database& database);
  std::size_t points = 0, failed = 0;
  std::string file;                            ///< file of the results
  std::optional<study::SweepResults> results;  ///< none: there are too many to hold
};

}  // namespace dadsim::api::inline v1
