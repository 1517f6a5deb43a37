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

/// Returns the figures that a page shows of every run at every point: indices in figures(), in order.
std::span<const std::size_t> page_figures();
/// Returns the place of a figure among the page's figures. Throws std::logic_error if it is not among them.
std::size_t page_figure(std::string_view name);

/// The results of a sweep for its page. Its build lists several, with spaces, if that was allowed.
struct SweepReport : ReportHead {
  struct Value {
    std::string text;              ///< text of the setting; for several paths, "10Mbps / 100Mbps"
    std::optional<double> number;  ///< number in the axis' unit
  };
  /// A dimension of the sweep.
  struct Axis {
    std::string name;                 ///< end of the path, as short as distinguishes the axes
    std::string path;                 ///< path in the form of --set
    std::vector<std::string> linked;  ///< further paths that change with it
    std::string unit;                 ///< unit of the numbers: "bit/s", "s", "B", or the text that follows them all
    std::vector<Value> values;        ///< distinct; numbers ascend, texts are in the order of first use
    bool numeric() const;             ///< every value has a number
  };
  struct Run {
    std::string label, algorithm;
    bool communicates = true;
  };
  struct Time {
    std::size_t run = 0;
    std::optional<estimate::Estimate> seconds;  ///< over the seeds; filled if every seed has such a time
    estimate::Verdict verdict = {};             ///< verdict against the quickest, if it has such a time
  };
  struct Point {
    std::int64_t id = 0;
    std::vector<std::size_t> at;  ///< index of the value, per axis
    std::vector<Time> ranked;     ///< quickest first, without the ends that others are compared with
    bool reached() const { return !ranked.empty() && ranked.front().seconds.has_value(); }
    bool is_open() const;  ///< the quickest cannot be told apart from others
    bool won() const { return reached() && !is_open(); }
  };
  /// The figures of one run at one point with one of its seeds.
  struct Row {
    std::size_t point = 0;  ///< index of the point
    std::int64_t seed = 0;  ///< number of the seed, from 0
    std::size_t run = 0;
    std::vector<double> values = {};  ///< values of page_figures(); not a number: unknown
    double operator[](std::string_view figure) const { return values.at(page_figure(figure)); }
  };
  struct Failure {
    std::int64_t point = 0;  ///< id of the point
    std::int64_t seed = 0;
    std::string message;
    bool infeasible = false;  ///< true: the point is infeasible, which is a result
  };

  std::string scenario_file;
  std::uint64_t hash = 0;
  double target_accuracy = 0;  ///< target of the unchanged scenario
  std::int64_t points_of_sweep = 0, seeds = 1;
  std::int64_t shard = 1, shards = 1;
  bool at_scale = false;                   ///< true: the time to accuracy at scale decides points
  Metric metric = Metric::time_to_target;  ///< metric that decides points
  std::optional<Statement> best;           ///< the best point; nothing if the question does not arise
  std::vector<Statement> of_two;           ///< with two points: how much quicker each run is at the second
  std::string rate_unit;                   ///< unit of rates of a metric of work; empty: times decide
  std::string of;                          ///< timed workload; empty: the network that learns
  std::string currency;                    ///< currency of money; empty: none
  double sampling_error = 0;  ///< greatest standard error of a mean step ÷ that step; 0: all steps were simulated
  std::vector<std::string> learned_on, timed_as;  ///< all networks, of all points or of some
  std::string scenario;                           ///< text of the scenario file, for the page only
  std::vector<Axis> axes;
  std::vector<Run> runs;  ///< most points won first
  std::vector<Point> points;
  std::vector<Row> rows;
  std::vector<Failure> failures;

  /// Returns whether every combination of the axes' values occurs exactly once.
  bool grid() const;
};

/// Returns the answer for terminal and page. With two points, how much quicker the second is. With more, how many
/// points each run wins and where, or which point is best.
std::vector<Statement> answer_of(const SweepReport& report);

/// Returns a document with the answer and the data of the page; docs/sweep.md explains the members.
Document document_of(const SweepReport& report);

}  // namespace dadsim::report
