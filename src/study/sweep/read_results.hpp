#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "study/sweep/results.hpp"

namespace dadsim::study {

/// Damage found in a file.
struct SweepDamage {
  std::string structure;          ///< SQLite's message about the structure; empty: no damage
  std::set<std::int64_t> points;  ///< points whose values or results are lost
  std::int64_t results = 0;       ///< lost rows of trials and points
  bool any() const { return !structure.empty() || results > 0; }
};

/// A trial with its results.
struct TrialResults {
  SweepTrial trial;
  std::string message;         ///< message of the failure; empty: the trial is done
  std::vector<SweepRun> runs;  ///< runs of the trial, in order
};

/// Reads the intact data of a file of results, one point or trial at a time, in order. Checks with SQLite's structure
/// check, the form of this program's tables, and the checksum of every row. Reports damaged data, and leaves them out.
/// Memory does not grow with the file, except for one bit per point.
class ResultsReader {
 public:
  /// Reads the sweep's identity and settings. Throws InputError if even these are unreadable.
  explicit ResultsReader(Database& database);

  const SweepIdentity& identity() const { return identity_; }
  const std::vector<SweepColumn>& columns() const { return columns_; }
  const SweepSettings& settings() const { return settings_; }

  /// Visits all points. Must come before trials; otherwise each_trial() visits them first.
  void each_point(const std::function<void(SweepResults::Point&&)>& take);
  /// Visits all trials of intact points.
  void each_trial(const std::function<void(TrialResults&&)>& take);
  /// Returns the damage found so far.
  const SweepDamage& damage() const { return damage_; }
  /// Throws InputError if damage was found; the message lists the losses and how to continue.
  void throw_if_damaged() const;
  /// Returns the values of a point.
  std::vector<std::string> values_of(std::int64_t point);

 private:
  void scan(const std::function<void()>& table);
  bool step(SqlStatement& rows);
  void lose(std::int64_t point);
  void lose_rows(const std::string& select);
  void check_structure();
  void read_identity();
  void read_settings();

  Database& database_;
  SweepDamage damage_;
  SweepIdentity identity_;
  std::vector<SweepColumn> columns_;
  SweepSettings settings_;
  std::vector<bool> is_whole_;  ///< by point: true if the point is intact; empty: points not read yet
  std::unique_ptr<SqlStatement> values_;
};

/// Reads a whole file. Throws InputError if it is damaged; the message lists the losses and how to continue.
SweepResults read_results(Database& database);
/// Reads a whole file, and returns its sweep's identity. Throws like read_results().
SweepIdentity whole_identity(Database& database);

/// Returns for example "3, 7 … 12, 40 and 17 more".
std::string ranges_in_words(const std::vector<std::int64_t>& numbers);

}  // namespace dadsim::study
