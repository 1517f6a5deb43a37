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

/// Returns the figures of runs that a sweep's page shows: indices in figures(), in order.
std::span<const std::size_t> page_figures();
/// Returns the position of a figure among page_figures(). Throws std::logic_error if the page does not show it.
std::size_t page_figure(std::string_view name);

/// The results of a sweep for its page. `build` lists several builds, separated by spaces, if that was permitted.
struct SweepReport : ReportHead {
  struct Value {
    std::string text;              ///< the setting as text; for several paths, "10Mbps / 100Mbps"
    std::optional<double> number;  ///< number in the axis' unit
  };
  /// A dimension of the sweep.
  struct Axis {
    std::string name;                 ///< end of the path, as short as possible to distinguish the axes
    std::string path;                 ///< path in the form of --set
    std::vector<std::string> linked;  ///< other paths that change together with it
    std::string unit;                 ///< unit of the numbers: "bit/s", "s", "B", or the common suffix of the texts
    std::vector<Value> values;        ///< distinct values; numbers ascending, texts in order of first use
    bool numeric() const;             ///< true if every value has a number
  };
  struct Run {
    std::string label, algorithm;
    bool communicates = true;
  };
  struct Time {
    std::size_t run = 0;
    std::optional<estimate::Estimate> seconds;  ///< mean over the seeds; filled if every seed has a time
    estimate::Verdict verdict = {};             ///< comparison with the quickest run, if this one has a time
  };
  struct Point {
    std::int64_t id = 0;
    std::vector<std::size_t> at;  ///< index of the value, per axis
    std::vector<Time> ranked;     ///< runs, quickest first, without references
    bool reached() const { return !ranked.empty() && ranked.front().seconds.has_value(); }
    bool is_open() const;  ///< true if other runs cannot be distinguished from the quickest
    bool won() const { return reached() && !is_open(); }
  };
  /// The figures of one run at one point with one of its seeds.
  struct Row {
    std::size_t point = 0;  ///< index of the point
    std::int64_t seed = 0;  ///< number of the seed, from 0
    std::size_t run = 0;
    std::vector<double> values = {};  ///< values of page_figures(); NaN: unknown
    double operator[](std::string_view figure) const { return values.at(page_figure(figure)); }
  };
  struct Failure {
    std::int64_t point = 0;  ///< id of the point
    std::int64_t seed = 0;
    std::string message;
    bool infeasible = false;  ///< true: the point is infeasible, which counts as a result
  };

  std::string scenario_file;
  std::uint64_t hash = 0;
  double target_accuracy = 0;  ///< target in the scenario, before the sweep changes it
  std::int64_t points_of_sweep = 0, seeds = 1;
  std::int64_t shard = 1, shards = 1;
  bool at_scale = false;                   ///< true: the time to accuracy at scale decides points
  Metric metric = Metric::time_to_target;  ///< metric that decides points
  std::optional<Statement> best;           ///< the best point; nothing if the points have no best one
  std::vector<Statement> of_two;           ///< with two points: speed at the second relative to the first
  std::string rate_unit;                   ///< unit of rates, for a metric of work; empty: times decide
  std::string of;                          ///< timed workload; empty: the learning network
  std::string currency;                    ///< currency of money; empty: none
  double sampling_error = 0;  ///< largest relative standard error of a mean step; 0: all steps were simulated
  std::vector<std::string> learned_on, timed_as;  ///< descriptions of the networks of all or some points
  std::string scenario;                           ///< text of the scenario file, for the page only
  std::vector<Axis> axes;
  std::vector<Run> runs;  ///< the run that wins the largest number of points first
  std::vector<Point> points;
  std::vector<Row> rows;
  std::vector<Failure> failures;

  /// Returns whether the points are all combinations of the axes' values, each exactly once.
  bool grid() const;
};

/// Returns the answer for terminal and page. With two points, how much quicker the second is. With more points, how
/// many each run wins and where, or which point is best.
std::vector<Statement> answer_of(const SweepReport& report);

/// Returns a document with the answer and the data of the page; docs/sweep.md explains the members.
Document document_of(const SweepReport& report);

}  // namespace dadsim::report
