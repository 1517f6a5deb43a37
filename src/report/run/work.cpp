#include "report/run/work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimate/convergence.hpp"
#include "spec/workload.hpp"

namespace dadsim::report {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

bool is_known(double value) { return std::isfinite(value) && value > 0; }

bool differ(double one, double other, double margin = 0.001) {
  return is_known(one) && is_known(other) && std::abs(one / other - 1) > margin;
}

/// Returns the batch law of published runs of a workload; nothing if there are none.
std::optional<estimate::BatchLaw> law_of(const std::string& workload) {
  const spec::Workload* known = workload.empty() ? nullptr : spec::workload_registry().find(workload);
  return known == nullptr ? std::nullopt : estimate::fit_batch_law(estimate::published_batches(*known));
}

}  // namespace

double Work::per_step() const { return counts_tokens() ? tokens : samples; }

bool Work::counts_tokens() const { return is_known(tokens); }

Work work_of(const FigureValues& figures) {
  const double seconds = figures["step_seconds"];
  return {.step_seconds = seconds,
          .samples = figures["samples_per_second"] * seconds,
          .tokens = figures["tokens_per_second"] * seconds,
          .money = figures["money_per_step"],
          .joules = figures["joules_per_step"],
          .known_steps = figures["known_steps"],
          .workload = figures.text("workload")};
}

bool do_other_work(const Work& one, const Work& other) {
  // Seeds divide the data differently, so the mean rows of the same batch differ by less than a hundredth.
  return one.workload == other.workload && differ(one.per_step(), other.per_step(), 0.01);
}

bool is_of_work(Metric metric) {
  return metric == Metric::throughput || metric == Metric::per_money || metric == Metric::per_energy;
}

double price_of_work(const Work& work, Metric metric) {
  const double cost = metric == Metric::per_money    ? work.money
                      : metric == Metric::per_energy ? work.joules
                                                     : work.step_seconds;
  return is_known(work.per_step()) ? cost / work.per_step() : std::numeric_limits<double>::quiet_NaN();
}

double rate_of_work(double price, Metric metric) { return (metric == Metric::per_energy ? kJoulesPerKwh : 1) / price; }

std::string rate_unit(Metric metric, bool tokens, const std::string& currency) {
  const std::string work = tokens ? "tokens" : "samples";
  if (metric == Metric::throughput) return work + "/s";
  if (metric == Metric::per_money) return work + " per " + currency;
  return metric == Metric::per_energy ? work + " per kWh" : "";
}

Metric common_metric(Metric metric, spec::AskedMetric asked, const std::vector<Work>& runs) {
  const auto known_by = [&](Metric by) {
    return std::ranges::any_of(runs, [&](const Work& run) { return is_known(price_of_work(run, by)); });
  };
  switch (asked) {
    case spec::AskedMetric::throughput:
      if (known_by(Metric::throughput)) return Metric::throughput;
      break;
    case spec::AskedMetric::per_money:
      if (known_by(Metric::per_money)) return Metric::per_money;
      break;
    case spec::AskedMetric::per_energy:
      if (known_by(Metric::per_energy)) return Metric::per_energy;
      break;
    case spec::AskedMetric::automatic:
      break;
  }
  if (metric != Metric::time_per_step && metric != Metric::time_at_scale) return metric;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    // Equal numbers of steps with different batches are different training.
    const bool as_many = metric == Metric::time_per_step || !differ(runs[0].known_steps, runs[i].known_steps);
    if (as_many && do_other_work(runs[0], runs[i])) return Metric::throughput;
  }
  return metric;
}

std::optional<Statement> batch_assumption(const Work& before, const Work& after, Metric metric) {
  if (!do_other_work(before, after)) return std::nullopt;
  if (metric == Metric::time_at_scale && differ(before.known_steps, after.known_steps)) {
    // Published numbers of steps depend on the batch; a budget of samples does not distinguish batches.
    const double budget = before.known_steps * before.per_step();
    if (differ(budget, after.known_steps * after.per_step())) return std::nullopt;
  } else if (!is_of_work(metric)) {
    return std::nullopt;
  }
  Statement statement{"compared-batches"};
  statement.with("before_samples", before.samples).with("after_samples", after.samples);
  statement.with("tokens", before.counts_tokens() && after.counts_tokens());
  if (const auto law = law_of(before.workload); law && std::isfinite(law->critical)) {
    statement.with("critical_batch", law->critical);
    statement.with("samples_factor", law->samples(after.samples) / law->samples(before.samples));
  }
  return statement;
}

}  // namespace dadsim::report
