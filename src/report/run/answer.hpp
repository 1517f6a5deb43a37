#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/result.hpp"
#include "report/words/metric.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// The answer of a result, about the workload or network that was timed.
struct Answer {
  Metric metric = Metric::time_to_target;
  std::string of;  ///< name of the workload, or of the learning network
  /// A run with its time and the time's interval.
  struct Place {
    std::size_t run = 0;  ///< index in Result::runs
    double seconds = 0;
    std::optional<double> low, high;
    std::size_t seeds = 1;           ///< number of seeds in the mean
    estimate::Verdict verdict = {};  ///< verdict against the first of the ranking
  };
  /// The comparison of a run with an earlier one of the ranking.
  struct Pair {
    std::size_t run = 0, of = 0;  ///< indices in Result::runs
    estimate::Estimate times;
  };
  std::vector<Pair> pairs;            ///< all pairs of runs if the metric is the time to the target, else empty
  std::vector<Place> ranking;         ///< runs that communicate and have a time by the metric, the quickest first
  std::vector<Statement> statements;  ///< the answer first, then its qualifications
  double rounding_steps = 0;          ///< rounding of times to the target, steps: see estimate::align_exact()
};

Answer answer_to(const Result& result);

}  // namespace dadsim::report
