#include "study/sweep/read_results.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <utility>

#include "report/words/statement.hpp"
#include "spec/sweep_specification.hpp"
#include "support/diagnostics.hpp"
#include "support/shell_word.hpp"

namespace dadsim::study {
namespace {

std::uint64_t from_hex(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

/// Returns the definitions of all tables and their indices, except those of records, whose form differs between
/// versions.
std::string tables_of(Database& database) {
  SqlStatement select(database,
                      "SELECT type, name, tbl_name, sql FROM sqlite_schema "
                      "WHERE tbl_name NOT IN ('records', 'learning', 'history') ORDER BY rowid");
  std::string all;
  while (select.step()) {
    for (int i = 0; i < 4; ++i) all += select.text(i) + '\n';
  }
  return all;
}

[[noreturn]] void nothing_is_left(const Database& database, const std::string& what) {
  throw InputError(Diagnostic{database.path(), 0,
                              fmt::format("is damaged: {}; none of its results can be trusted", what),
                              "use a copy, or begin anew with another file"});
}

/// Returns whether this version can parse the statement; other versions may use other names.
bool is_readable(const std::pair<std::string, std::string>& setting) {
  if (setting.first != "assumption") return true;
  try {
    report::statement_of(setting.second);
  } catch (const std::runtime_error&) {
    return false;
  }
  return true;
}

}  // namespace

ResultsReader::ResultsReader(Database& database) : database_(database) {
  check_structure();
  read_identity();
  scan([&] { read_settings(); });
}

void ResultsReader::lose(std::int64_t point) {
  ++damage_.results;
  damage_.points.insert(point);
}

/// Marks the points in these rows as lost.
void ResultsReader::lose_rows(const std::string& select) {
  SqlStatement rows(database_, select);
  while (step(rows)) lose(rows.integer(0));
}

/// Scans a table, up to the point where SQLite can no longer read it.
void ResultsReader::scan(const std::function<void()>& table) {
  try {
    table();
  } catch (const InputError& error) {
    if (damage_.structure.empty()) damage_.structure = error.diagnostics().front().what;
  }
}

bool ResultsReader::step(SqlStatement& rows) {
  bool there = false;
  scan([&] { there = rows.step(); });
  return there;
}

void ResultsReader::check_structure() {
  Database own(":memory:", Database::Access::scratch);
  create_tables(own);
  if (tables_of(database_) != tables_of(own)) nothing_is_left(database_, "its tables are not those of a sweep");
  scan([&] {
    SqlStatement check(database_, "PRAGMA integrity_check(1)");
    if (!check.step() || check.text(0) != "ok") damage_.structure = check.text(0).substr(0, 200);
    while (check.step()) {
    }
  });
}

void ResultsReader::read_identity() {
  bool whole = false;
  scan([&] {
    SqlStatement select(database_,
                        "SELECT version, build, hash, scenario_file, scenario_name, scenario, resolved, points, seeds, "
                        "target_accuracy, shard, shards, currency, checksum FROM sweep");
    if (!select.step()) return;
    identity_ = {.version = select.text(0),
                 .build = select.text(1),
                 .hash = from_hex(select.text(2)),
                 .scenario_file = select.text(3),
                 .scenario_name = select.text(4),
                 .scenario = select.text(5),
                 .resolved = select.text(6),
                 .points = select.integer(7),
                 .seeds = select.integer(8),
                 .target_accuracy = select.real(9),
                 .shard = select.integer(10),
                 .shards = select.integer(11),
                 .currency = select.text(12)};
    const std::int64_t checksum = select.integer(13);
    SqlStatement axes(database_, "SELECT axis, path FROM axis ORDER BY number");
    while (axes.step()) columns_.push_back({axes.integer(0), axes.text(1)});
    whole = !select.step() && checksum == checksum_of(identity_, columns_);
  });
  if (!whole) nothing_is_left(database_, "the description of its sweep is damaged");
  if (identity_.points < 1 || identity_.points > spec::kMostSweepPoints || identity_.seeds < 1 ||
      identity_.seeds > spec::kMostSweepSeeds || identity_.shard < 1 || identity_.shard > identity_.shards)
    nothing_is_left(database_, "the description of its sweep is impossible");
}

void ResultsReader::read_settings() {
  SqlStatement select(database_, "SELECT what, data, words, checksum FROM setting ORDER BY what, data");
  while (select.step()) {
    std::pair<std::string, std::string> setting{select.text(0), select.text(1)};
    if (checksum_of_setting(setting.first, setting.second, select.text(2)) == select.integer(3) &&
        is_readable(setting)) {
      settings_.insert(std::move(setting));
    } else if (damage_.structure.empty()) {
      damage_.structure = "a recorded assumption was changed";
    }
  }
}

void ResultsReader::each_point(const std::function<void(SweepResults::Point&&)>& take) {
  is_whole_.resize(static_cast<std::size_t>(identity_.points) + 1);
  SqlStatement rows(database_, "SELECT id, hash, checksum FROM point ORDER BY id");
  while (step(rows)) {
    SweepResults::Point point{rows.integer(0), rows.text(1), {}};
    scan([&] { point.values = values_of(point.id); });
    if (point.id < 1 || point.id > identity_.points || point.values.size() != columns_.size() ||
        checksum_of(point) != rows.integer(2)) {
      lose(point.id);
      continue;
    }
    is_whole_[static_cast<std::size_t>(point.id)] = true;
    take(std::move(point));
  }
  lose_rows("SELECT point FROM value WHERE point NOT IN (SELECT id FROM point)");
}

void ResultsReader::each_trial(const std::function<void(TrialResults&&)>& take) {
  if (is_whole_.empty()) each_point([](SweepResults::Point&&) {});
  SqlStatement rows(database_, "SELECT point, seed, status, words, checksum FROM trial ORDER BY point, seed");
  SqlStatement runs(database_, select_runs_of_trial());
  while (step(rows)) {
    TrialResults results{{rows.integer(0), rows.integer(1)}, rows.text(3), {}};
    const SweepTrial trial = results.trial;
    runs << trial.point << trial.seed;
    while (step(runs)) results.runs.push_back(run_of_row(runs));
    if (trial.point >= 1 && trial.point <= identity_.points && is_whole_[static_cast<std::size_t>(trial.point)] &&
        trial.seed >= 0 && trial.seed < identity_.seeds && rows.text(2) == status_of(results.message) &&
        checksum_of(trial, results.message, results.runs) == rows.integer(4)) {
      take(std::move(results));
    } else {
      lose(trial.point);
    }
  }
  lose_rows("SELECT DISTINCT point, seed FROM run WHERE (point, seed) NOT IN (SELECT point, seed FROM trial)");
}

std::vector<std::string> ResultsReader::values_of(std::int64_t point) {
  if (!values_)
    values_ = std::make_unique<SqlStatement>(database_, "SELECT value FROM value WHERE point = ? ORDER BY number");
  *values_ << point;
  std::vector<std::string> values;
  while (values_->step()) values.push_back(values_->text(0));
  return values;
}

SweepResults read_results(Database& database) {
  ResultsReader reader(database);
  SweepResults results;
  results.identity = reader.identity();
  results.columns = reader.columns();
  results.settings = reader.settings();
  reader.each_point([&](SweepResults::Point&& point) { results.points.push_back(std::move(point)); });
  reader.each_trial([&](TrialResults&& trial) {
    if (!trial.message.empty()) results.failed.push_back({trial.trial, std::move(trial.message)});
    for (SweepRun& run : trial.runs) results.runs.push_back(std::move(run));
  });
  reader.throw_if_damaged();
  return results;
}

SweepIdentity whole_identity(Database& database) {
  ResultsReader reader(database);
  reader.each_trial([](TrialResults&&) {});
  reader.throw_if_damaged();
  return reader.identity();
}

void ResultsReader::throw_if_damaged() const {
  const SweepDamage& damage = damage_;
  if (!damage.any()) return;
  const std::vector<std::int64_t> points(damage.points.begin(), damage.points.end());
  std::string what = damage.results == 0 ? "all its results can still be read"
                                         : fmt::format("{} of its results {} lost, of point{} {}", damage.results,
                                                       damage.results == 1 ? "is" : "are",
                                                       points.size() == 1 ? "" : "s", ranges_in_words(points));
  if (!damage.structure.empty()) what += fmt::format(" ({})", damage.structure);
  throw InputError(Diagnostic{
      database_.path(), 0, "is damaged: " + what,
      fmt::format(
          "use a copy, or dadsim merge NEW.sqlite {} --salvage, which keeps undamaged results; dadsim sweep {} --out "
          "NEW.sqlite continues with them",
          shell_word(database_.path()),
          identity_.scenario_file.empty() ? "scenario.xml" : shell_word(identity_.scenario_file))});
}

std::string ranges_in_words(const std::vector<std::int64_t>& numbers) {
  constexpr int kMostRanges = 8;
  std::string text;
  int ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (++ranges > kMostRanges) return text + fmt::format(" and {} more", numbers.size() - i);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (end > i) text += fmt::format("{}{}", end == i + 1 ? ", " : " … ", numbers[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace dadsim::study
