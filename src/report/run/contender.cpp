#include "report/run/contender.hpp"

#include <algorithm>
#include <cmath>

#include "report/run/work.hpp"

namespace dadsim::report {

Metric natural_metric(bool of_other_network, bool has_known_time, bool has_learned) {
  return of_other_network && has_known_time ? Metric::time_at_scale
         : of_other_network || !has_learned ? Metric::time_per_step
                                            : Metric::time_to_target;
}

estimate::Contender contender_of(const RunResult& run, Metric metric) {
  estimate::Contender contender{.exact = run.exact, .step_seconds = run.step_seconds};
  contender.scatter = run.seed_scatter;
  if (run.step_band) contender.parts = run.step_band->parts;
  switch (metric) {
    case Metric::time_at_scale:
      if (run.at_scale && run.at_scale->time) contender.seconds = run.at_scale->time->value;
      if (run.at_scale) contender.relative = run.at_scale->relative.ratio;
      break;
    case Metric::time_per_step:
    case Metric::time_per_round:
      contender.seconds = run.step_seconds;
      break;
    case Metric::throughput:
    case Metric::per_money:
    case Metric::per_energy:
      break;  // price_of_work() gives the value of these
    case Metric::time_to_target:
      contender.arrivals = run.arrivals;
      if (run.arrivals.size() > 1) {
        for (const auto& arrival : run.arrivals)
          contender.seconds += arrival ? arrival->at / static_cast<double>(run.arrivals.size()) : 0;
      } else if (run.target_reached) {
        contender.seconds = run.target_seconds;
      }
      break;
  }
  return contender;
}

estimate::Contender contender_of(const RunResult& run, const Result& result, Metric metric) {
  estimate::Contender contender = contender_of(run, metric);
  if (is_of_work(metric)) {
    const double price = price_of_work(work_of(FigureValues({run, result})), metric);
    contender.seconds = std::isfinite(price) ? price : 0;
  }
  return contender;
}

estimate::Estimate mean_arrival(const std::vector<std::optional<estimate::Arrival>>& arrivals, double scatter) {
  std::vector<estimate::Arrival> all;
  for (const auto& arrival : arrivals) all.push_back(arrival.value());
  return times_as_long(all, std::vector<estimate::Arrival>(all.size(), {1, 1}), false, scatter);
}

estimate::Estimate with_band(estimate::Estimate time, const std::optional<estimate::Band>& factors) {
  return factors && time.value > 0 ? estimate::with_band(time, *factors) : time;
}

std::optional<estimate::Estimate> time_of(const estimate::Contender& contender, Metric metric) {
  estimate::Estimate time{contender.seconds, {}, {}};
  if (metric == Metric::time_to_target) {
    const auto reached = [](const auto& arrival) { return arrival.has_value(); };
    if (!std::ranges::all_of(contender.arrivals, reached)) return std::nullopt;
    if (contender.arrivals.size() > 1) time = mean_arrival(contender.arrivals, contender.scatter);
  } else if (contender.by_seed.size() > 1) {
    time = estimate::ratio_of_means(contender.by_seed, std::vector<double>(contender.by_seed.size(), 1.0));
  } else if (!(contender.seconds > 0)) {
    return std::nullopt;
  }
  if (!std::isfinite(time.value)) return std::nullopt;
  if (contender.parts.empty()) return time;
  return with_band(time, estimate::band_of(contender.parts));
}

}  // namespace dadsim::report
