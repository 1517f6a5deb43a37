#include "estimate/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace dadsim::estimate {
namespace {

using Unit = ConvergenceResult::Unit;

constexpr const char* kRound07 = "MLPerf Training v0.7 (github.com/mlcommons/training_results_v0.7)";
constexpr const char* kRound10 = "MLPerf Training v1.0 (github.com/mlcommons/training_results_v1.0)";
constexpr const char* kRound21 = "MLPerf Training v2.1 (github.com/mlcommons/training_results_v2.1)";
constexpr const char* kRound40 = "MLPerf Training v4.0 (github.com/mlcommons/training_results_v4.0)";
constexpr const char* kRounds = "MLPerf Training v0.7 to v4.0 (github.com/mlcommons/training_results_v0.7 … v4.0)";

constexpr ConvergenceResult resnet(std::int64_t batch, double minimum, double maximum, int results,
                                   const char* source) {
  return {"resnet-50", "75.9 % top-1", batch, Unit::epochs, minimum, maximum, results, source};
}

/// Pre-training from the checkpoint that the benchmark's rules give, with sequences of 512 tokens.
constexpr ConvergenceResult bert(std::int64_t batch, double minimum, double maximum, int results) {
  return {"bert-large-512", "72 % of masked words", batch, Unit::samples, minimum, maximum, results, kRounds};
}

constexpr auto kTable = std::to_array<ConvergenceResult>({
    resnet(408, 35, 35, 3, kRound21),      resnet(816, 35, 35, 2, kRound21),      resnet(832, 41, 41, 1, kRound07),
    resnet(1'024, 35, 35, 2, kRound21),    resnet(1'200, 35, 35, 1, kRound21),    resnet(1'536, 34, 35, 2, kRound40),
    resnet(1'600, 35, 35, 3, kRound40),    resnet(1'632, 35, 35, 6, kRound10),    resnet(1'632, 35, 35, 5, kRound21),
    resnet(1'664, 34, 40, 5, kRound07),    resnet(1'920, 44, 44, 1, kRound10),    resnet(2'048, 38, 39, 2, kRound07),
    resnet(2'048, 38, 38, 1, kRound10),    resnet(2'048, 35, 35, 2, kRound21),    resnet(2'064, 35, 35, 1, kRound10),
    resnet(2'400, 35, 35, 2, kRound40),    resnet(2'496, 43, 43, 1, kRound07),    resnet(2'560, 45, 45, 1, kRound10),
    resnet(3'200, 35, 35, 2, kRound21),    resnet(3'200, 35, 35, 19, kRound40),   resnet(3'264, 35, 41, 3, kRound07),
    resnet(3'264, 35, 35, 14, kRound10),   resnet(3'264, 35, 35, 19, kRound21),   resnet(3'264, 35, 39, 2, kRound40),
    resnet(3'328, 41, 41, 2, kRound07),    resnet(3'840, 43, 43, 1, kRound10),    resnet(4'080, 35, 35, 1, kRound10),
    resnet(4'096, 38, 40, 2, kRound07),    resnet(6'144, 40, 40, 1, kRound10),    resnet(8'192, 42, 44, 2, kRound07),
    resnet(8'192, 42, 47, 3, kRound10),    resnet(13'056, 45, 45, 1, kRound10),   resnet(13'056, 45, 45, 1, kRound21),
    resnet(16'384, 47, 47, 2, kRound21),   resnet(32'768, 60, 64, 2, kRound07),   resnet(32'768, 44, 60, 3, kRound10),
    resnet(33'280, 56, 56, 1, kRound07),   resnet(34'560, 59, 59, 1, kRound07),   resnet(35'840, 60, 60, 1, kRound21),
    resnet(40'448, 70, 70, 1, kRound40),   resnet(55'296, 76, 76, 1, kRound10),   resnet(57'344, 77, 77, 1, kRound40),
    resnet(65'536, 88, 92, 2, kRound07),   resnet(67'456, 86, 86, 1, kRound21),   bert(176, 2'400'288, 2'400'288, 1),
    bert(256, 2'552'064, 3'507'200, 14),   bert(288, 4'000'032, 4'000'032, 1),    bert(384, 2'100'096, 3'003'264, 2),
    bert(432, 3'500'064, 3'500'064, 2),    bert(440, 3'565'320, 3'565'320, 1),    bert(448, 2'251'872, 156'811'560, 26),
    bert(576, 2'098'120, 2'098'120, 1),    bert(768, 2'098'681, 2'699'708, 14),   bert(896, 2'696'563, 2'998'382, 2),
    bert(1'024, 3'149'441, 3'149'441, 1),  bert(1'536, 2'626'560, 3'600'384, 3),  bert(2'048, 2'850'816, 2'850'816, 1),
    bert(3'072, 2'451'492, 3'505'152, 13), bert(4'096, 2'805'390, 3'170'304, 3),  bert(4'608, 2'801'664, 3'001'898, 2),
    bert(5'120, 4'500'480, 4'500'480, 1),  bert(6'144, 4'067'328, 4'300'800, 2),  bert(6'912, 4'838'400, 4'838'400, 1),
    bert(8'192, 4'587'520, 4'587'520, 2),  bert(9'216, 6'008'832, 6'008'832, 1),  bert(13'888, 5'405'904, 5'405'904, 1),
    bert(16'384, 2'932'736, 5'533'348, 2), bert(16'416, 2'938'464, 2'938'464, 1),
});

/// One batch of a workload, all rounds together. In samples.
struct Point {
  double batch = 0;
  double samples = 0, fewest = 0, most = 0;
  int results = 0;
  std::vector<std::string> sources;
};

std::vector<Point> points_of(const spec::Workload& workload, std::string& target) {
  constexpr double kBelievable = 3;
  std::map<std::int64_t, Point> by_batch;
  for (const ConvergenceResult& row : kTable) {
    if (workload.name != row.workload) continue;
    target = row.target;
    const double unit = row.unit == Unit::epochs ? static_cast<double>(workload.dataset_size) : 1.0;
    const double fewest = unit * row.minimum;
    const double most = row.maximum > kBelievable * row.minimum ? fewest : unit * row.maximum;
    Point& point = by_batch[row.batch];
    const auto before = static_cast<double>(point.results);
    const auto now = static_cast<double>(row.results);
    point.batch = static_cast<double>(row.batch);
    point.samples = (point.samples * before + (fewest + most) / 2 * now) / (before + now);
    point.fewest = point.results == 0 ? fewest : std::min(point.fewest, fewest);
    point.most = std::max(point.most, most);
    point.results += row.results;
    point.sources.emplace_back(row.source);
  }
  std::vector<Point> points;
  for (auto& [batch, point] : by_batch) points.push_back(std::move(point));
  return points;
}

double between(double from, double to, double share) { return from + share * (to - from); }

}  // namespace

std::span<const ConvergenceResult> convergence_table() { return kTable; }

KnownStepsAnswer published_steps(const spec::Workload& workload, std::int64_t batch) {
  std::string target;
  const std::vector<Point> points = points_of(workload, target);
  if (points.empty()) return {std::nullopt, fmt::format("no published results for {} are known here", workload.name)};
  const auto wanted = static_cast<double>(batch);
  if (wanted < points.front().batch || wanted > points.back().batch) {
    return {std::nullopt, fmt::format("published results for {} go from a global batch of {:.0f} to {:.0f}, and what a "
                                      "batch of {} needs cannot be read off from them",
                                      workload.name, points.front().batch, points.back().batch, batch)};
  }
  const auto above = std::ranges::lower_bound(points, wanted, {}, &Point::batch);
  const bool exact = above->batch == wanted;
  const Point& right = *above;
  const Point& left = exact ? right : *(above - 1);
  const double share = exact ? 0 : std::log(wanted / left.batch) / std::log(right.batch / left.batch);
  const auto steps = [&](double Point::*samples) {
    // A whole number that rounding has lifted by a hair is not another step.
    return std::ceil(between(left.*samples, right.*samples, share) / wanted * (1 - 1e-12));
  };

  std::vector<std::string> sources = left.sources;
  if (!exact) sources.insert(sources.end(), right.sources.begin(), right.sources.end());
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::string list;
  for (const std::string& source : sources) list += (list.empty() ? "" : ", ") + source;
  const double samples = between(left.samples, right.samples, share);
  const std::string amount =
      workload.dataset_size > 0
          ? fmt::format("{:.4g} epochs of {} samples", samples / static_cast<double>(workload.dataset_size),
                        workload.dataset_size)
          : fmt::format("{:.0f} samples", samples);
  KnownSteps known;
  known.steps = steps(&Point::samples);
  known.fewest = steps(&Point::fewest);
  known.most = steps(&Point::most);
  known.batch = batch;
  known.target = target;
  const auto results = [](int count) { return fmt::format("{} {}", count, count == 1 ? "result" : "results"); };
  known.source = exact ? fmt::format("{}, mean of {} at this batch: {}", amount, results(left.results), list)
                       : fmt::format("{}, between {} at a batch of {:.0f} and {} at {:.0f}: {}", amount,
                                     results(left.results), left.batch, results(right.results), right.batch, list);
  return {std::move(known), ""};
}

}  // namespace dadsim::estimate
