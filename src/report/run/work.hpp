#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run/figure_values.hpp"
#include "report/words/metric.hpp"
#include "report/words/statement.hpp"
#include "spec/metric_specification.hpp"

namespace dadsim::report {

/// What a run gets done, of its figures; not a number where that is not known.
struct Work {
  double step_seconds = 0;
  double samples = 0;         ///< of all workers per step
  double tokens = 0;          ///< the same; not a number where samples are no sequences
  double money = 0;           ///< of a step
  double joules = 0;          ///< of a step
  double known_steps = 0;     ///< that the workload is known to need at this batch
  std::string workload = {};  ///< that is timed; empty: the network that learns
  /// Tokens of a step, or samples where there are none.
  double per_step() const;
  bool counts_tokens() const;
};
Work work_of(const FigureValues& figures);

/// Whether runs of the same workload do another amount of it in a step, so that neither times of steps nor times of
/// equally many steps tell who is quicker.
bool do_other_work(const Work& one, const Work& other);

/// What runs are compared by that would be by `metric` each: what the scenario asks for, where that is known of some;
/// throughput where they do other work in a step, and nothing says how many steps each needs for the same; else that.
Metric common_metric(Metric metric, spec::AskedMetric asked, const std::vector<Work>& runs);

/// Seconds, money or joules for a token, or a sample where there are no tokens: what a metric of work compares. Less is
/// better.
double price_of_work(const Work& work, Metric metric);
/// The same as it is said: tokens or samples per second, per unit of money, per kWh.
double rate_of_work(double price, Metric metric);
bool is_of_work(Metric metric);
/// "tokens/s", "samples per USD"; empty by a metric that is a time.
std::string rate_unit(Metric metric, bool tokens, const std::string& currency);

/// What is taken for granted where the batch of all workers differs between runs that are compared; none where it does
/// not, or where `metric` has nothing to do with it.
std::optional<Statement> batch_assumption(const Work& before, const Work& after, Metric metric);

}  // namespace dadsim::report
