#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/document/document.hpp"
#include "report/run/answer.hpp"
#include "report/run/result.hpp"
#include "report/run/work.hpp"

namespace dadsim::report {

/// One run on two sides, by what both are compared by.
struct Compared {
  std::string run;
  Metric metric = Metric::time_per_step;
  std::string of;  ///< what is timed
  struct Side {
    std::string algorithm;
    bool event_driven = false;
    std::string causes;                  ///< the figure causes_in_words
    double best_accuracy = 0;            ///< of what is learned
    std::optional<double> seconds = {};  ///< by the metric; none where there is no such time
    double step_seconds = 0;
    estimate::Contender contender = {};  ///< what is known of its time, or of the price of its work
    Work work = {};
  };
  Side before = {}, after = {};
  std::string currency = {};  ///< of money
};

/// By work where that is what the two are to be compared by (common_metric()): it takes the place of their times.
void compare_by_work(Compared& run, spec::AskedMetric asked);

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

/// Runs that both sides have, by label, in the order of the first; `before`, `after`: what each side answers.
std::vector<Compared> compared_runs(const Comparison& comparison, const Answer& before, const Answer& after);

/// Each run on both sides; then which runs are the quickest, which one side alone has, what is taken for granted of
/// batches that differ, what the same work costs, and in how many days what is bought pays. Every member is documented
/// in docs/compare.md.
Document document_of(const Comparison& comparison);

}  // namespace dadsim::report
