#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/efficiency.hpp"
#include "estimate/verdict.hpp"
#include "report/document/document.hpp"
#include "report/run/answer.hpp"

namespace dadsim::report {

/// The figures that a page shows of every run at every point: indices into figures(), in order.
std::span<const std::size_t> page_figures();
/// The place of a figure among these. Throws std::logic_error where it is not among them.
std::size_t page_figure(std::string_view name);

/// The results of a sweep as its page shows them. Its build: several, with spaces, where that was allowed.
struct SweepReport : ReportHead {
  struct Value {
    std::string text;              ///< as the sweep sets it; of paths that differ, "10Mbps / 100Mbps"
    std::optional<double> number;  ///< in the axis' unit
  };
  /// A dimension of the sweep.
  struct Axis {
    std::string name;                 ///< the end of the path, as short as the axes can be told apart
    std::string path;                 ///< as in --set
    std::vector<std::string> linked;  ///< further paths that take their values with it
    std::string unit;                 ///< of the numbers: "bit/s", "s", "B", or what stands behind them all
    std::vector<Value> values;        ///< distinct; numbers ascend, texts come as they were first used
    bool numeric() const;             ///< every value has a number
  };
  struct Run {
    std::string label, algorithm;
    bool communicates = true;
  };
  struct Time {
    std::size_t run = 0;
    std::optional<estimate::Estimate> seconds;  ///< over the seeds; none unless every seed has such a time
    estimate::Verdict verdict = {};             ///< how it stands to the quickest, where it has such a time
  };
  struct Point {
    std::int64_t id = 0;
    std::vector<std::size_t> at;  ///< per axis: index of its value
    std::vector<Time> ranked;     ///< quickest first, without the ends that others are measured against
    bool reached() const { return !ranked.empty() && ranked.front().seconds.has_value(); }
    bool is_open() const;  ///< the quickest is not told apart from others
    bool won() const { return reached() && !is_open(); }
  };
  /// The figures of one run of one point with one of its seeds.
  struct Row {
    std::size_t point = 0;  ///< index
    std::int64_t seed = 0;  ///< from 0
    std::size_t run = 0;
    std::vector<double> values = {};  ///< of page_figures(); not a number: not known
    double operator[](std::string_view figure) const { return values.at(page_figure(figure)); }
  };
  struct Failure {
    std::int64_t point = 0;  ///< id
    std::int64_t seed = 0;
    std::string message;
    bool infeasible = false;  ///< it does not go, which is a result
  };

  std::string scenario_file;
  std::uint64_t hash = 0;
  double target_accuracy = 0;  ///< of the scenario as it stands
  std::int64_t points_of_sweep = 0, seeds = 1;
  std::int64_t shard = 1, shards = 1;
  bool at_scale = false;                   ///< points are decided by the time to accuracy at scale
  Metric metric = Metric::time_to_target;  ///< what points are decided by
  std::optional<Statement> best;           ///< which point is the best; none where that is no question
  std::vector<Statement> of_two;           ///< of two points: how much quicker each run is at the second
  std::string rate_unit;                   ///< by a metric of work: of rates; empty: points go by times
  std::string of;                          ///< the workload that is timed; empty: the network that learns
  std::string currency;                    ///< of money; empty: none is known
  double sampling_error = 0;  ///< the worst standard error of a mean step ÷ that step; 0: all steps were simulated
  std::vector<std::string> learned_on, timed_as;  ///< all networks, of all points or of some
  std::string scenario;                           ///< the text of its file; for the page alone
  std::vector<Axis> axes;
  std::vector<Run> runs;  ///< most points won first
  std::vector<Point> points;
  std::vector<Row> rows;
  std::vector<Failure> failures;

  /// Every value of each axis stands with every value of the others, once.
  bool grid() const;
};

/// What the terminal and the page answer: of two points how much quicker the second is; of more who is first at how
/// many, and where most of them are, or which point is the best.
std::vector<Statement> answer_of(const SweepReport& report);

/// The answer, and what the page is drawn from: docs/sweep.md explains the members.
Document document_of(const SweepReport& report);

}  // namespace dadsim::report
