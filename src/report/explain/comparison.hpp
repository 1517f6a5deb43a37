#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"
#include "report/text/paragraph.hpp"

namespace dadsim::report {

/// One run on two sides, by what both are compared by.
struct Compared {
  std::string run;
  Metric metric = Metric::time_per_step;
  std::string of;  ///< what is timed
  struct Side {
    std::string algorithm;
    std::string causes;                  ///< the figure causes_in_words
    double best_accuracy = 0;            ///< of what is learned
    std::optional<double> seconds = {};  ///< by the metric; none where there is no such time
    double step_seconds = 0;
    double samples_per_second = 0, tokens_per_second = 0;  ///< not a number, or 0: not known
    estimate::Contender contender = {};                    ///< what is known of its time
    /// Of all workers per step; 0: not known.
    double samples() const;
  };
  Side before = {}, after = {};
  /// The two do another amount in a step, so that times of steps are no measure: compared by throughput.
  bool other_work() const;
};

/// How much quicker `name`, the second side, is, and what the time of the slower side went into. "with
/// nic=200Gbps: 1.65 times faster: a step of gpt-2-medium takes 293 ms instead of 484 ms; before, 81 % of the step was
/// bandwidth (…)."
Statement statement_on(const Compared& run, const std::string& name);

/// Something that is said differently on both sides.
struct Difference {
  std::string path;           ///< as for --set, "platform.gpu-cluster.nic"
  std::string before, after;  ///< empty: not there
};

/// Two scenarios, timed each.
struct Comparison {
  std::string name;  ///< of the second side
  Result before, after;
  std::vector<Difference> differences;
};

/// Runs that both sides have, by label, in the order of the first.
std::vector<Compared> compared_runs(const Comparison& comparison);

/// Which runs are the quickest on both sides, and which one side alone has.
std::vector<Statement> statements_on(const Comparison& comparison);

/// Of the quickest runs of both sides, and then run by run; for a terminal with what differs.
Summary summary_of(const Comparison& comparison);
std::string to_table(const Comparison& comparison);
/// As JSON; every field is documented in docs/compare.md.
std::string to_json(const Comparison& comparison);

}  // namespace dadsim::report
