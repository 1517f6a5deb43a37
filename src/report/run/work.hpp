#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run/figure_values.hpp"
#include "report/words/metric.hpp"
#include "report/words/statement.hpp"
#include "spec/evaluation_specification.hpp"

namespace dadsim::report {

/// The work of a run, from its figures; not a number if unknown.
struct Work {
  double step_seconds = 0;
  double samples = 0;         ///< samples of all workers per step
  double tokens = 0;          ///< tokens of all workers per step; not a number if samples are not sequences
  double money = 0;           ///< money per step
  double joules = 0;          ///< joules per step
  double known_steps = 0;     ///< steps that the workload is known to need at this batch
  std::string workload = {};  ///< timed workload; empty: the network that learns
  /// Returns the tokens of a step, or samples without tokens.
  double per_step() const;
  bool counts_tokens() const;
};
Work work_of(const FigureValues& figures);

/// Returns whether runs of the same workload do different amounts of it per step. Then neither times of steps nor times
/// of equally many steps tell which is quicker.
bool do_other_work(const Work& one, const Work& other);

/// Returns the metric for a comparison of runs that have `metric` each. A metric asked for by the scenario comes first,
/// if known for some run. Next comes throughput, if runs do different work per step and the steps needed are unknown.
/// Otherwise `metric` stays.
Metric common_metric(Metric metric, spec::AskedMetric asked, const std::vector<Work>& runs);

/// Returns the seconds, money or joules per token, or per sample without tokens, as compared by a metric of work. Less
/// is better.
double price_of_work(const Work& work, Metric metric);
/// Returns the price as a rate: tokens or samples per second, per unit of money, or per kWh.
double rate_of_work(double price, Metric metric);
bool is_of_work(Metric metric);
/// Returns "tokens/s" or "samples per USD"; empty if the metric is a time.
std::string rate_unit(Metric metric, bool tokens, const std::string& currency);

/// Returns the assumption about different batches of all workers in compared runs; nothing if batches are equal or do
/// not affect `metric`.
std::optional<Statement> batch_assumption(const Work& before, const Work& after, Metric metric);

}  // namespace dadsim::report
