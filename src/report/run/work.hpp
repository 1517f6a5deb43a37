#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run/figure_values.hpp"
#include "report/words/metric.hpp"
#include "report/words/statement.hpp"
#include "spec/evaluation_specification.hpp"

namespace dadsim::report {

/// The work of a run, computed from its figures; NaN if unknown.
struct Work {
  double step_seconds = 0;
  double samples = 0;         ///< samples of all workers per step
  double tokens = 0;          ///< tokens of all workers per step; NaN if samples are not sequences
  double money = 0;           ///< money per step
  double joules = 0;          ///< joules per step
  double known_steps = 0;     ///< number of steps that the workload is known to need with this batch
  std::string workload = {};  ///< timed workload; empty: the learning network
  /// Returns the tokens of a step; the samples if there are no tokens.
  double per_step() const;
  bool counts_tokens() const;
};
Work work_of(const FigureValues& figures);

/// Returns whether runs of the same workload do different amounts of work per step. Step times, or times of equal
/// numbers of steps, then do not show which run is quicker.
bool do_other_work(const Work& one, const Work& other);

/// Returns the metric for comparing runs that have `metric` each. A metric requested by the scenario comes first, if
/// some run has it. Throughput comes next, if runs do different work per step and the number of steps is unknown.
/// Otherwise returns `metric`.
Metric common_metric(Metric metric, spec::AskedMetric asked, const std::vector<Work>& runs);

/// Returns seconds, money or joules per token (per sample without tokens), the value that a metric of work compares.
/// Less is better.
double price_of_work(const Work& work, Metric metric);
/// Returns the inverse of the price: tokens or samples per second, per unit of money, or per kWh.
double rate_of_work(double price, Metric metric);
bool is_of_work(Metric metric);
/// Returns the unit of rates, "tokens/s" or "samples per USD"; empty if the metric is a time.
std::string rate_unit(Metric metric, bool tokens, const std::string& currency);

/// Returns the assumption about different global batches of compared runs; nothing if batches are equal or do not
/// affect `metric`.
std::optional<Statement> batch_assumption(const Work& before, const Work& after, Metric metric);

}  // namespace dadsim::report
