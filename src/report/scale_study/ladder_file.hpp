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

/// Results of a scale study, for use in another scenario.
struct LadderFile {
  struct Run {
    std::string label, algorithm;
    spec::ParameterValues set;  ///< settings common to all rungs; empty: the file is of an older version
    bool as_many_by_definition = false;
    std::vector<estimate::Rung> rungs;  ///< rungs with relative steps, including held-out ones
    std::optional<Statement> never;     ///< filled if the largest sizes did not reach the target
  };
  std::string scenario;  ///< name of the study's scenario
  std::vector<spec::SizeKind> against;
  double target_accuracy = 0;
  std::int64_t seeds = 0;
  double largest_parameters = 0;  ///< number of parameters of the largest rung's network
  std::vector<Run> runs;

  const Run* find(std::string_view label) const;
};

/// Reads the JSON of a ScaleStudyReport. Throws std::runtime_error, with a message, for any other text.
LadderFile parse_ladder(const std::string& text);

}  // namespace dadsim::report
