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

/// One run on both sides of a comparison, by the common metric.
struct Compared {
  std::string run;
  Metric metric = Metric::time_per_step;
  std::string of;  ///< timed workload or network
  struct Side {
    std::string algorithm;
    bool event_driven = false;
    std::string causes;                  ///< value of the figure causes_in_words
    double best_accuracy = 0;            ///< best accuracy
    std::optional<double> seconds = {};  ///< seconds by the metric; nothing if unknown
    double step_seconds = 0;
    estimate::Contender contender = {};  ///< time, or price of work, with uncertainty
    Work work = {};
  };
  Side before = {}, after = {};
  std::string currency = {};  ///< currency of money
};

/// Switches to a metric of work in place of times if common_metric() selects one.
void compare_by_work(Compared& run, spec::AskedMetric asked);

/// Returns a statement on how much faster or slower the second side, `name`, is, with the causes of the slower side's
/// time. Example: "with nic=200Gbps: 1.65 times faster: a step of gpt-2-medium takes 293 ms instead of 484 ms; before,
/// 81 % of the step was bandwidth (…)."
Statement statement_on(const Compared& run, const std::string& name);

/// A setting that differs between the two sides.
struct Difference {
  std::string path;           ///< path as for --set, "platform.gpu-cluster.nic"
  std::string before, after;  ///< values; empty: absent
};

/// Two scenarios and their timings.
struct Comparison {
  std::string name;  ///< name of the second side
  Result before, after;
  std::vector<Difference> differences;
};

/// Returns the runs that exist on both sides, by label, in the order of the first side. `before`, `after`: answers of
/// the sides.
std::vector<Compared> compared_runs(const Comparison& comparison, const Answer& before, const Answer& after);

/// Returns a document with each run on both sides, the quickest runs, runs of one side only, assumptions about
/// different batches, the cost of equal work, and the days until purchases pay off. docs/compare.md documents every
/// member.
Document document_of(const Comparison& comparison);

}  // namespace dadsim::report
