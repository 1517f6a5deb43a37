#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/run/figure_values.hpp"
#include "study/store/database.hpp"

namespace dadsim::study {

/// Identity of the sweep that a file of results belongs to.
struct SweepIdentity {
  std::string version;  ///< version of dadsim
  std::string build;    ///< see support/build.hpp; several builds, if permitted, are separated by spaces
  std::uint64_t hash = 0;
  std::string scenario_file, scenario_name;
  std::string scenario;  ///< text of the file
  std::string resolved;  ///< scenario with every default explicit
  std::int64_t points = 0, seeds = 1;
  double target_accuracy = 0;  ///< target in the scenario, before the sweep changes it
  std::int64_t shard = 1, shards = 1;
  std::string currency;  ///< currency of the costs; empty if the scenario has no <costs>
};

/// A varied path of the sweep. Linked paths have the same axis.
struct SweepColumn {
  std::int64_t axis = 0;  ///< from 1
  std::string path;
  bool operator==(const SweepColumn&) const = default;
};

/// A point with one of its seeds.
struct SweepTrial {
  std::int64_t point = 0;  ///< from 1
  std::int64_t seed = 0;   ///< from 0, which is the scenario's own seed
  bool operator==(const SweepTrial&) const = default;
  auto operator<=>(const SweepTrial&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy looks into it
};

/// Figures of one run in a trial.
struct SweepRun {
  SweepTrial trial;
  std::int64_t number = 0;  ///< from 1, in the order of the scenario
  report::FigureValues figures;
  std::string uncertainty;  ///< causes of uncertainty of its times (report::to_text()); empty: none known
  const std::string& label() const { return figures.text("label"); }
  bool event_driven() const { return figures.is("event_driven"); }
};

struct FailedTrial {
  SweepTrial trial;
  std::string message;
  bool is_infeasible() const;
};

/// Prefix of the message of an infeasible trial (too large for a memory, for example). Such a trial has a result, and
/// did not fail.
inline constexpr std::string_view kInfeasible = "infeasible: ";

/// Names and values of settings of all points, or of some: "learned_on" and "timed_as" with a network, "metric",
/// "rate-as-tcp" with a sentence, "assumption" with a statement in the form of report::to_text().
using SweepSettings = std::set<std::pair<std::string, std::string>>;
SweepSettings settings_of(const report::Result& result);

/// Largest number of runs that are held in memory, or shown on a terminal or a page. Larger results are available as
/// CSV, or by SQLite queries.
inline constexpr std::int64_t kMostRunsShown = 100'000;
/// Returns the number of runs with results in a file.
std::int64_t count_runs(Database& database);

/// Contents of a file, without learned records. Points and trials are in order.
struct SweepResults {
  SweepIdentity identity;
  std::vector<SweepColumn> columns;
  struct Point {
    std::int64_t id = 0;
    std::string hash;                 ///< Scenario::hash, 16 hexadecimal digits
    std::vector<std::string> values;  ///< one per column
  };
  std::vector<Point> points;
  std::vector<SweepRun> runs;
  std::vector<FailedTrial> failed;
  SweepSettings settings;
};

// The tables of a file of results; docs/sweep.md explains them. `run` has a column for every figure of a run
// (report/figures.hpp), in its order. An unknown number is NULL, a missing text is empty.

void create_tables(Database& database);
/// Returns whether the tables exist. `or_before`: also accepts those of the previous version. Throws InputError if the
/// file holds other tables.
bool has_tables(Database& database, bool or_before = false);
/// Writes the identity, and the varied paths in order.
void write_identity(Database& database, const SweepIdentity& identity, const std::vector<SweepColumn>& columns);
/// Writes new settings.
void write_settings(Database& database, const SweepSettings& settings);
/// Writes a trial in one transaction. `message`: empty if it is done, else why it failed or is infeasible.
void write_trial(Database& database, const SweepTrial& trial, const std::vector<SweepRun>& runs,
                 const std::string& message);

/// Writes new points, within the caller's transaction.
class PointWriter {
 public:
  explicit PointWriter(Database& database);
  void write(const SweepResults::Point& point);

 private:
  SqlStatement point_, value_;
};

/// Writes new trials, within the caller's transaction.
class TrialWriter {
 public:
  explicit TrialWriter(Database& database);
  void write(const SweepTrial& trial, const std::vector<SweepRun>& runs, const std::string& message);

 private:
  SqlStatement trial_, run_;
};

/// Returns the statement that reads the runs of a trial (point, seed) in order; or reads the run from one of its rows.
std::string select_runs_of_trial();
SweepRun run_of_row(const SqlStatement& row);
/// Returns the name of the first column in which two runs differ; null if there is none.
const char* differing_column(const SweepRun& a, const SweepRun& b);

// Return the checksum stored with a row, over all its contents: a sweep with its dimensions, a point with its values, a
// trial with its runs. SQLite detects inconsistent pages, but not a changed number in a page.
std::int64_t checksum_of(const SweepIdentity& identity, const std::vector<SweepColumn>& columns);
std::int64_t checksum_of(const SweepResults::Point& point);
std::int64_t checksum_of(const SweepTrial& trial, const std::string& message, const std::vector<SweepRun>& runs);
std::int64_t checksum_of_setting(const std::string& what, const std::string& data, const std::string& words);

/// Returns the status of a trial with this message: "done", "failed" or "infeasible".
const char* status_of(std::string_view message);

/// Returns why results of these two sweeps do not belong together; empty if they do. build_difference() compares
/// builds.
std::string difference(const SweepIdentity& a, const SweepIdentity& b);
/// Returns why these two builds may give different results; empty if they are equal.
std::string build_difference(const SweepIdentity& a, const SweepIdentity& b);
/// Returns the names of both builds, for results from both.
std::string builds_of(const SweepIdentity& a, const SweepIdentity& b);

/// Returns the largest sampling_error of all runs; 0 if nothing was interpolated.
double worst_sampling_error(const SweepResults& results);

}  // namespace dadsim::study
