#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/answer.hpp"
#include "report/paragraph.hpp"
#include "report/result.hpp"

namespace dadsim::report {

/// One run on two sides, by what both are compared by.
struct Compared {
  std::string run;
  Metric metric = Metric::time_per_step;
  std::string of;                       ///< what is timed
  std::optional<double> before, after;  ///< seconds; none where there is no such time
  double step_before = 0, step_after = 0;
  std::string causes_before, causes_after;  ///< causes_in_words() of either
  double best_before = 0, best_after = 0;   ///< accuracy, of what is learned
};

/// One sentence: how much quicker `name`, the second side, is, and what the time of the slower side went into. "with
/// nic=200Gbps: 1.65 times faster: a step of gpt-2-medium takes 293 ms instead of 484 ms; before, 81 % of the step was
/// bandwidth (…)."
std::string sentence_on(const Compared& run, const std::string& name);

/// Something that is said differently on both sides.
struct Difference {
  std::string path;           ///< as for --set, "platform.gpu-cluster.nic"
  std::string before, after;  ///< empty: not there
};

/// Two scenarios, timed each.
struct Comparison {
  std::string name;  ///< of the second side, for sentences
  Result before, after;
  std::vector<Difference> differences;
};

/// Runs that both sides have, by label, in the order of the first.
std::vector<Compared> compared_runs(const Comparison& comparison);

/// Of the quickest runs of both sides, and then run by run; for a terminal with what differs.
Told told(const Comparison& comparison);
std::string to_table(const Comparison& comparison);
/// As JSON; every field is documented in docs/compare.md.
std::string to_json(const Comparison& comparison);

}  // namespace dadsim::report
