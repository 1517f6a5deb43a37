#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/run/figure_values.hpp"
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

/// What is kept of a run of a trial: the figures of the run.
struct SweepRun {
  SweepTrial trial;
  std::int64_t number = 0;  ///< from 1, in the order of the scenario
  report::FigureValues figures;
  std::string uncertainty;  ///< what leaves its times open (report::to_text()); empty: nothing is known of it
  const std::string& label() const { return figures.text("label"); }
  bool event_driven() const { return figures.is("event_driven"); }
};

struct FailedTrial {
  SweepTrial trial;
  std::string message;
  bool is_infeasible() const;
};

/// How the words of a trial begin that does not go: more than a memory holds, say. It is a result, and no failure.
inline constexpr std::string_view kInfeasible = "infeasible: ";

/// What points have in common, or some of them: "learned_on" and "timed_as" with a network, "assumption" with a
/// statement as report::to_text() has it.
using SweepSettings = std::set<std::pair<std::string, std::string>>;
SweepSettings settings_of(const report::Result& result);

/// Results of more runs than this are not held in memory, and not shown on a terminal or a page: a CSV, or a program
/// that asks SQLite, has them.
inline constexpr std::int64_t kMostRunsShown = 100'000;
/// Of a file: the runs that it has results of.
std::int64_t count_runs(Database& database);

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

// The tables of a file of results; docs/sweep.md explains them. `run` has a column for every figure of a run
// (report/figures.hpp), in its order. A number that is not known is NULL, a text that there is none of is empty.

void create_tables(Database& database);
/// Whether the tables are there; those of the version before, too, with `or_before`. Throws InputError where the file
/// holds others.
bool has_tables(Database& database, bool or_before = false);
/// The identity, and the dimensions in order.
void write_identity(Database& database, const SweepIdentity& identity, const std::vector<SweepColumn>& columns);
/// Those that are new.
void write_settings(Database& database, const SweepSettings& settings);
/// `message`: empty if it is done, else why it failed, or that it is infeasible, and why. One transaction.
void write_trial(Database& database, const SweepTrial& trial, const std::vector<SweepRun>& runs,
                 const std::string& message);

/// Writes points that are not there yet, within a transaction of the caller's.
class PointWriter {
 public:
  explicit PointWriter(Database& database);
  void write(const SweepResults::Point& point);

 private:
  Statement point_, value_;
};

/// The same of trials, which must not be there.
class TrialWriter {
 public:
  explicit TrialWriter(Database& database);
  void write(const SweepTrial& trial, const std::vector<SweepRun>& runs, const std::string& message);

 private:
  Statement trial_, run_;
};

/// The statement that reads the runs of a trial (point, seed), in order, and a run of one of its rows.
std::string select_runs_of_trial();
SweepRun run_of_row(const Statement& row);
/// The name of the first column in which two runs differ; null where there is none.
const char* differing_column(const SweepRun& a, const SweepRun& b);

// Checksums that stand with a row, of all that it says: of the sweep with its dimensions, of a point with its values,
// of a trial with its runs. SQLite finds pages that hang together wrongly, but not that a number in one of them is
// another one.
std::int64_t checksum_of(const SweepIdentity& identity, const std::vector<SweepColumn>& columns);
std::int64_t checksum_of(const SweepResults::Point& point);
std::int64_t checksum_of(const SweepTrial& trial, const std::string& message, const std::vector<SweepRun>& runs);
std::int64_t checksum_of_setting(const std::string& what, const std::string& data, const std::string& words);

/// The status of a trial of these words: "done", "failed" or "infeasible".
const char* status_of(std::string_view message);

/// Why results of these two do not belong together; empty if they do. Builds are compared by build_difference().
std::string difference(const SweepIdentity& a, const SweepIdentity& b);
/// Why these two builds may give other results; empty if they are the same.
std::string build_difference(const SweepIdentity& a, const SweepIdentity& b);
/// Both builds, for what both made.
std::string builds_of(const SweepIdentity& a, const SweepIdentity& b);

/// The largest sampling_error of all runs; 0 where nothing was interpolated.
double worst_sampling_error(const SweepResults& results);

}  // namespace dadsim::study
