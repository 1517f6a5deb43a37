#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/result.hpp"
#include "report/words/metric.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// What a result says to whom asked, always of what was timed.
struct Answer {
  Metric metric = Metric::time_to_target;
  std::string of;  ///< the workload, or the network that learned
  /// A run with its time, between what it is to be expected.
  struct Place {
    std::size_t run = 0;  ///< index among Result::runs
    double seconds = 0;
    std::optional<double> low, high;
    std::size_t seeds = 1;           ///< that it is the mean of
    estimate::Verdict verdict = {};  ///< how it stands to the first of the ranking
  };
  /// How many times as long one run of the ranking takes as another that comes before it, as Place::verdict.
  struct Pair {
    std::size_t run = 0, of = 0;  ///< indices among Result::runs
    estimate::Estimate times;
  };
  std::vector<Pair> pairs;            ///< all that there are by the time to the target
  std::vector<Place> ranking;         ///< runs that share and have such a time, the quickest first
  std::vector<Statement> statements;  ///< the answer itself first, then what qualifies it
  double rounding_steps = 0;          ///< estimate::align_exact(), of times to the target
};

Answer answer_to(const Result& result);

}  // namespace dadsim::report
