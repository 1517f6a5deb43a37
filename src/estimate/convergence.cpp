#include "estimate/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "estimate/convergence.csv.hpp"
#include "support/fact_table.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::estimate {
namespace {

/// Results of all rounds for one batch of a workload, in samples.
struct ConvergencePoint {
  double batch = 0;
  double samples = 0, fewest = 0, most = 0;
  int results = 0;
  std::vector<std::string> sources;
};

/// Returns the tokens of a sample in the workload's training; 0: samples have no tokens.
std::int64_t sequence_of(const spec::Workload& workload, const TrainedAs& how) {
  if (how.sequence > 0) return how.sequence;
  const auto own = std::ranges::find(workload.parameters, "sequence", &spec::ParameterSpec::name);
  return own == workload.parameters.end() ? 0 : parse_whole<std::int64_t>(own->default_value, 0).value_or(0);
}

std::vector<ConvergencePoint> points_of(const spec::Workload& workload, const TrainedAs& how, std::string& target) {
  constexpr double kBelievable = 3;
  std::map<std::int64_t, ConvergencePoint> by_batch;
  for (const ConvergenceResult& row : convergence_table()) {
    if (workload.name != row.workload || how.adapters != row.adapters) continue;
    if (row.sequence > 0 && row.sequence != sequence_of(workload, how)) continue;
    target = row.target;
    const double unit =
        row.unit == ConvergenceResult::WorkUnit::epochs ? static_cast<double>(workload.dataset_size) : 1.0;
    const double fewest = unit * row.minimum;
    const double most = row.maximum > kBelievable * row.minimum ? fewest : unit * row.maximum;
    ConvergencePoint& point = by_batch[row.batch];
    const auto before = static_cast<double>(point.results);
    const auto now = static_cast<double>(row.results);
    point.batch = static_cast<double>(row.batch);
    const double mean = row.mean ? unit * *row.mean : (fewest + most) / 2;
    point.samples = (point.samples * before + mean * now) / (before + now);
    point.fewest = point.results == 0 ? fewest : std::min(point.fewest, fewest);
    point.most = std::max(point.most, most);
    point.results += row.results;
    point.sources.push_back(row.source);
  }
  std::vector<ConvergencePoint> points;
  for (auto& [batch, point] : by_batch) points.push_back(std::move(point));
  return points;
}

double between(double from, double to, double share) { return from + share * (to - from); }

}  // namespace

std::span<const ConvergenceResult> convergence_table() {
  using WorkUnit = ConvergenceResult::WorkUnit;
  static const std::vector<ConvergenceResult> kResults =
      FactTable(tables::kConvergence,
                {"workload", "adapters", "sequence", "target", "batch", "unit", "minimum", "maximum", "mean", "results",
                 "date", "source"},
                12)
          .each([](const FactTable::Row& row) {
            const bool has_mean = !row.optional_text("mean").empty();
            return ConvergenceResult{
                row.text("workload"),
                row.optional_text("adapters") == "yes",
                row.optional_text("sequence").empty() ? 0 : row.integer("sequence"),
                row.text("target"),
                row.integer("batch"),
                row.one_of<WorkUnit>("unit", {{"epochs", WorkUnit::epochs}, {"samples", WorkUnit::samples}}),
                row.number("minimum"),
                row.number("maximum"),
                has_mean ? std::optional(row.number("mean")) : std::nullopt,
                static_cast<int>(row.integer("results")),
                row.text("source")};
          });
  return kResults;
}

std::vector<StepsAtBatch> published_batches(const spec::Workload& workload) {
  std::string target;
  std::vector<StepsAtBatch> batches;
  for (const ConvergencePoint& point : points_of(workload, {}, target))
    batches.push_back({point.batch, point.samples / point.batch});
  return batches;
}

KnownStepsAnswer published_steps(const spec::Workload& workload, std::int64_t batch, const TrainedAs& how) {
  std::string target;
  const std::vector<ConvergencePoint> points = points_of(workload, how, target);
  if (points.empty()) return {std::nullopt, Statement{"no-published-steps", {workload.name}}};
  const auto wanted = static_cast<double>(batch);
  if (wanted < points.front().batch || wanted > points.back().batch) {
    return {std::nullopt, Statement{"batch-beyond-published", {workload.name}}
                              .with("least_batch", points.front().batch)
                              .with("most_batch", points.back().batch)
                              .with("batch", wanted)};
  }
  const auto above = std::ranges::lower_bound(points, wanted, {}, &ConvergencePoint::batch);
  const bool exact = above->batch == wanted;
  const ConvergencePoint& right = *above;
  const ConvergencePoint& left = exact ? right : *(above - 1);
  const double share = exact ? 0 : std::log(wanted / left.batch) / std::log(right.batch / left.batch);
  const auto steps = [&](double ConvergencePoint::*samples) {
    // Allows for rounding, so that a whole number slightly too large does not add a step.
    return std::ceil(between(left.*samples, right.*samples, share) / wanted * (1 - 1e-12));
  };

  std::vector<std::string> sources = left.sources;
  if (!exact) sources.insert(sources.end(), right.sources.begin(), right.sources.end());
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  KnownSteps known;
  known.steps = steps(&ConvergencePoint::samples);
  known.fewest = steps(&ConvergencePoint::fewest);
  known.most = steps(&ConvergencePoint::most);
  known.batch = batch;
  known.target = target;
  known.source = Statement{"published-steps", std::move(sources)};
  known.source.with("samples", between(left.samples, right.samples, share));
  if (workload.dataset_size > 0) known.source.with("samples_per_epoch", static_cast<double>(workload.dataset_size));
  std::vector<double> batches{left.batch};
  std::vector<double> results{static_cast<double>(left.results)};
  if (!exact) {
    batches.push_back(right.batch);
    results.push_back(static_cast<double>(right.results));
  }
  known.source.with("batches", std::move(batches)).with("results", std::move(results));
  return {std::move(known), std::nullopt};
}

}  // namespace dadsim::estimate
