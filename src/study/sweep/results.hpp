#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/result.hpp"
#include "study/sweep/database.hpp"

namespace dadsim::study {

/// The identity of the sweep whose results a file holds.
struct SweepIdentity {
  std::string version;  ///< of dadsim
  std::string build;    ///< what it was built from (support/build.hpp); several, with spaces, where that was allowed
  std::uint64_t hash = 0;
  std::string scenario_file, scenario_name;
  std::string scenario;  ///< the file's text
  std::string resolved;  ///< with every default filled in
  std::int64_t points = 0, seeds = 1;
  double target_accuracy = 0;  ///< of the scenario as it stands
  std::int64_t shard = 1, shards = 1;
  std::string currency;  ///< of money; empty where the scenario does not ask for costs
};

/// A dimension of the sweep, or one of several paths that are linked.
struct SweepColumn {
  std::int64_t axis = 0;  ///< from 1
  std::string path;
  bool operator==(const SweepColumn&) const = default;
};

/// A point with one of its seeds.
struct SweepTrial {
  std::int64_t point = 0;  ///< from 1
  std::int64_t seed = 0;   ///< from 0: the scenario's, the next …
  bool operator==(const SweepTrial&) const = default;
  auto operator<=>(const SweepTrial&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy looks into it
};

/// What is kept of a run of a trial. Not a number where there is none: no steps, nothing known at scale.
struct SweepRun {
  SweepTrial trial;
  std::int64_t number = 0;  ///< from 1, in the order of the scenario
  std::string label, algorithm;
  bool communicates = true;
  std::string exchange;  ///< empty unless it communicates
  std::int64_t workers = 0, steps = 0;
  double final_accuracy = 0, best_accuracy = 0, final_auc = 0;
  bool target_reached = false;
  double target_step = 0, target_seconds = 0;
  double target_after_seconds = 0;  ///< of the evaluation before the one that reached the target
  bool exact = false;               ///< it learns what every exact run of the sites does, up to rounding
  double step_seconds = 0, compute_seconds = 0, exposed_seconds = 0, first_step_seconds = 0;
  double bytes_up = 0, bytes_down = 0;  ///< of a worker per step
  double total_bytes = 0, total_seconds = 0;
  std::string bound_by, bound_kind;  ///< the resource that the critical path is on for longest
  double bound_share = 0;
  std::string cause;  ///< what the critical path is of most, by kind and then by resources (report::causes_of)
  double cause_share = std::numeric_limits<double>::quiet_NaN();
  std::string causes;    ///< all of it in words
  std::string timed_as;  ///< the workload that is timed in the place of the network that learns; empty: none
  double samples_per_second = std::numeric_limits<double>::quiet_NaN(), tokens_per_second = samples_per_second;
  double model_flops_utilisation = std::numeric_limits<double>::quiet_NaN();
  double scaling_efficiency = std::numeric_limits<double>::quiet_NaN();
  /// Standard error of step_seconds ÷ step_seconds; not a number: nothing was interpolated.
  double sampling_error = std::numeric_limits<double>::quiet_NaN();
  double memory_bytes = 0;
  std::string step_parts;  ///< of a step, by what their errors go by (parts_in_text()); empty: no band is known
  double relative_steps = 0;
  double relative_low = std::numeric_limits<double>::quiet_NaN(), relative_high = relative_low;
  /// Time to accuracy at scale, and between what it is to be expected: relative steps and the band of a step together.
  double scale_seconds = 0, scale_low = 0, scale_high = 0;
  double money = std::numeric_limits<double>::quiet_NaN();  ///< to the target; at scale where steps there are known
  double joules = std::numeric_limits<double>::quiet_NaN();
  // Of event-driven runs.
  double participation = std::numeric_limits<double>::quiet_NaN();  ///< contributions used ÷ clients asked
  double mean_staleness = std::numeric_limits<double>::quiet_NaN();
  double wasted_seconds = std::numeric_limits<double>::quiet_NaN(), wasted_bytes = wasted_seconds;
  double down_seconds = std::numeric_limits<double>::quiet_NaN();  ///< of all workers together
  bool event_driven() const { return wasted_seconds == wasted_seconds; }
};

struct FailedTrial {
  SweepTrial trial;
  std::string message;
};

/// What points have in common, or some of them: "learned_on", "timed_as" and "assumption", each with its sentence.
using SweepSettings = std::set<std::pair<std::string, std::string>>;
SweepSettings settings_of(const report::Result& result);

/// All that a file holds but what was learned, points and trials in order.
struct SweepResults {
  SweepIdentity identity;
  std::vector<SweepColumn> columns;
  struct Point {
    std::int64_t id = 0;
    std::string hash;                 ///< Scenario::hash, 16 hexadecimal digits
    std::vector<std::string> values;  ///< per column
  };
  std::vector<Point> points;
  std::vector<SweepRun> runs;
  std::vector<FailedTrial> failed;
  SweepSettings settings;
};

/// Of one of the runs of a result.
SweepRun sweep_run_of(const SweepTrial& trial, std::int64_t number, const report::RunResult& run,
                      const report::Result& result);

// The tables of a file of results; docs/sweep.md explains them.

void create_tables(Database& database);
/// Whether the tables are there. Throws InputError where the file holds others.
bool has_tables(Database& database);
/// The identity, and the dimensions in order.
void write_identity(Database& database, const SweepIdentity& identity, const std::vector<SweepColumn>& columns);
void write_point(Database& database, const SweepResults::Point& point);
/// Those that are new.
void write_settings(Database& database, const SweepSettings& settings);
/// `message`: empty if it is done, else why it failed. One transaction.
void write_trial(Database& database, const SweepTrial& trial, const std::vector<SweepRun>& runs,
                 const std::string& message);

/// Why results of these two do not belong together; empty if they do. Builds are compared by build_difference().
std::string difference(const SweepIdentity& a, const SweepIdentity& b);
/// Why these two builds may give other results; empty if they are the same.
std::string build_difference(const SweepIdentity& a, const SweepIdentity& b);
/// Both builds, for what both made.
std::string builds_of(const SweepIdentity& a, const SweepIdentity& b);

/// The largest SweepRun::sampling_error of all runs; 0 where nothing was interpolated.
double worst_sampling_error(const SweepResults& results);

}  // namespace dadsim::study
