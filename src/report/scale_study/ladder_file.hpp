#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/ladder.hpp"
#include "report/words/statement.hpp"
#include "spec/parameter.hpp"
#include "spec/scale_study_specification.hpp"

namespace dadsim::report {

/// What a scale study has found, as far as another scenario asks for it.
struct LadderFile {
  struct Run {
    std::string label, algorithm;
    spec::ParameterValues set;  ///< its settings that are the same on all rungs; empty: an older file
    bool as_many_by_definition = false;
    std::vector<estimate::Rung> rungs;  ///< with relative steps, held out or not
    std::optional<Statement> never;     ///< where the largest sizes did not reach the target
  };
  std::string scenario;  ///< its name
  std::vector<spec::SizeKind> against;
  double target_accuracy = 0;
  std::int64_t seeds = 0;
  double largest_parameters = 0;  ///< of its rungs
  std::vector<Run> runs;

  const Run* find(std::string_view label) const;
};

/// Reads what the JSON of a ScaleStudyReport has written. Throws std::runtime_error, with words, where it is no such
/// text.
LadderFile parse_ladder(const std::string& text);

}  // namespace dadsim::report
