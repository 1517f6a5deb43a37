#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "study/sweep/results.hpp"

namespace dadsim::study {

/// What of a file cannot be trusted.
struct SweepDamage {
  std::string structure;          ///< what SQLite says of it; empty: nothing
  std::set<std::int64_t> points;  ///< whose values or results are lost
  std::int64_t results = 0;       ///< rows of trials and of points that are lost
  bool any() const { return !structure.empty() || results > 0; }
};

/// A trial with what there is to say of it.
struct TrialResults {
  SweepTrial trial;
  std::string message;         ///< of a failure; empty: it is done
  std::vector<SweepRun> runs;  ///< in order
};

/// Reads a file of results one point or trial at a time, in order, each only where it is as it was written: SQLite's
/// own check of the structure, the tables as this program makes them, and the checksum of every row. What is damaged
/// is told as damage, and left out. Memory does not grow with the file, but for one bit a point.
class ResultsReader {
 public:
  /// Reads of what sweep it is, and with what settings. Throws InputError where even that cannot be said.
  explicit ResultsReader(Database& database);

  const SweepIdentity& identity() const { return identity_; }
  const std::vector<SweepColumn>& columns() const { return columns_; }
  const SweepSettings& settings() const { return settings_; }

  /// All points, before any trial is asked for; trials see to that where nobody has.
  void each_point(const std::function<void(SweepResults::Point&&)>& take);
  /// All trials of points that are whole.
  void each_trial(const std::function<void(TrialResults&&)>& take);
  /// Damage found so far.
  const SweepDamage& damage() const { return damage_; }
  /// Throws InputError where that is anything: what is lost, and how to go on.
  void throw_if_damaged() const;
  /// The values of a point.
  std::vector<std::string> values_of(std::int64_t point);

 private:
  void scan(const std::function<void()>& table);
  bool step(Statement& rows);
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
  std::vector<bool> is_whole_;  ///< per point; empty: they have not been read
  std::unique_ptr<Statement> values_;
};

/// All of a file. Throws InputError where it is damaged: what is lost, and how to go on.
SweepResults read_results(Database& database);
/// Reads all of a file, and returns of what sweep it is. Throws as read_results() does.
SweepIdentity whole_identity(Database& database);

/// "3, 7 … 12, 40 and 17 more".
std::string ranges_in_words(const std::vector<std::int64_t>& numbers);

}  // namespace dadsim::study
