#include "study/sweep/read_results.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>
#include <utility>

#include "report/words/statement_text.hpp"
#include "spec/sweep_specification.hpp"
#include "study/sweep/run_columns.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

std::uint64_t from_hex(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::string tables_of(Database& database) {
  Statement select(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid");
  std::string all;
  while (select.step()) {
    for (int i = 0; i < 4; ++i) all += select.text(i) + '\n';
  }
  return all;
}

[[noreturn]] void refuse(const Database& database, const std::string& what, const std::string& remedy) {
  throw InputError(Diagnostic{database.path(), 0, what, remedy});
}

[[noreturn]] void nothing_is_left(const Database& database, const std::string& what) {
  refuse(database, fmt::format("is damaged: {}; nothing in it can be told from what is not so", what),
         "a copy of it, or begin anew with another file");
}

/// Reads one file.
class Reader {
 public:
  Reader(Database& database, SweepDamage& damage) : database_(database), damage_(damage) {}

  SweepResults read() {
    check_structure();
    read_identity();
    scan([&] { read_points(); });
    scan([&] { read_settings(); });
    scan([&] { read_runs(); });
    scan([&] { read_trials(); });
    for (const auto& [trial, runs] : runs_) lose(trial.point);  // of no trial
    return std::move(results_);
  }

 private:
  void lose(std::int64_t point) {
    ++damage_.results;
    damage_.points.insert(point);
  }

  /// What SQLite no longer gives of a table ends with it.
  void scan(const std::function<void()>& table) {
    try {
      table();
    } catch (const InputError& error) {
      if (damage_.structure.empty()) damage_.structure = error.diagnostics().front().what;
    }
  }

  void check_structure() {
    Database own(":memory:", Database::Access::scratch);
    create_tables(own);
    if (tables_of(database_) != tables_of(own)) nothing_is_left(database_, "its tables are not those of a sweep");
    scan([&] {
      Statement check(database_, "PRAGMA integrity_check(1)");
      if (!check.step() || check.text(0) != "ok") damage_.structure = check.text(0).substr(0, 200);
      while (check.step()) {
      }
    });
  }

  void read_identity() {
    std::int64_t checksum = 0;
    SweepIdentity& identity = results_.identity;
    bool whole = false;
    scan([&] {
      Statement select(database_,
                       "SELECT version, build, hash, scenario_file, scenario_name, scenario, resolved, points, seeds, "
                       "target_accuracy, shard, shards, currency, checksum FROM sweep");
      if (!select.step()) return;
      identity.version = select.text(0);
      identity.build = select.text(1);
      identity.hash = from_hex(select.text(2));
      identity.scenario_file = select.text(3);
      identity.scenario_name = select.text(4);
      identity.scenario = select.text(5);
      identity.resolved = select.text(6);
      identity.points = select.integer(7);
      identity.seeds = select.integer(8);
      identity.target_accuracy = select.real(9);
      identity.shard = select.integer(10);
      identity.shards = select.integer(11);
      identity.currency = select.text(12);
      checksum = select.integer(13);
      Statement axes(database_, "SELECT axis, path FROM axis ORDER BY number");
      while (axes.step()) results_.columns.push_back({axes.integer(0), axes.text(1)});
      whole = !select.step();
    });
    if (!whole || checksum != checksum_of(identity, results_.columns))
      nothing_is_left(database_, "it does not say any more of what sweep it is");
    if (identity.points < 1 || identity.points > spec::kMostSweepPoints || identity.seeds < 1 ||
        identity.seeds > spec::kMostSweepSeeds || identity.shard < 1 || identity.shard > identity.shards)
      nothing_is_left(database_, "it is of a sweep that there cannot be");
  }

  void read_points() {
    std::map<std::int64_t, std::pair<SweepResults::Point, std::int64_t>> found;
    Statement points(database_, "SELECT id, hash, checksum FROM point ORDER BY id");
    while (points.step()) {
      const std::int64_t id = points.integer(0);
      found[id] = {{id, points.text(1), std::vector<std::string>(results_.columns.size())}, points.integer(2)};
    }
    scan([&] {
      Statement values(database_, "SELECT point, number, value FROM value");
      while (values.step()) {
        const auto point = found.find(values.integer(0));
        const std::int64_t number = values.integer(1);
        if (point == found.end() || number < 1 || number > static_cast<std::int64_t>(results_.columns.size())) {
          lose(values.integer(0));
        } else {
          point->second.first.values[static_cast<std::size_t>(number - 1)] = values.text(2);
        }
      }
    });
    for (auto& [id, point] : found) {
      if (id < 1 || id > results_.identity.points || checksum_of(point.first) != point.second) {
        lose(id);
        continue;
      }
      points_.insert(id);
      results_.points.push_back(std::move(point.first));
    }
  }

  /// Whether what was assumed has words here: a file may be of a dadsim that says more.
  static bool is_readable(const std::pair<std::string, std::string>& setting) {
    if (setting.first != "assumption") return true;
    try {
      report::statement_of(setting.second);
    } catch (const std::runtime_error&) {
      return false;
    }
    return true;
  }

  void read_settings() {
    Statement select(database_, "SELECT what, data, words, checksum FROM setting ORDER BY what, data");
    while (select.step()) {
      std::pair<std::string, std::string> setting{select.text(0), select.text(1)};
      if (checksum_of_setting(setting.first, setting.second, select.text(2)) == select.integer(3) &&
          is_readable(setting)) {
        results_.settings.insert(std::move(setting));
      } else if (damage_.structure.empty()) {
        damage_.structure = "a sentence of what was assumed is not the one that was written";
      }
    }
  }

  void read_runs() {
    Statement row(database_, select_runs());
    while (row.step()) {
      SweepRun run = run_of_row(row);
      runs_[run.trial].push_back(std::move(run));
    }
  }

  void read_trials() {
    Statement trials(database_, "SELECT point, seed, status, words, checksum FROM trial ORDER BY point, seed");
    while (trials.step()) {
      const SweepTrial trial{trials.integer(0), trials.integer(1)};
      const std::string status = trials.text(2);
      const std::string words = trials.text(3);
      std::vector<SweepRun> runs;
      if (const auto own = runs_.find(trial); own != runs_.end()) {
        runs = std::move(own->second);
        runs_.erase(own);
      }
      const bool whole = points_.contains(trial.point) && trial.seed >= 0 && trial.seed < results_.identity.seeds &&
                         status == (words.empty() ? "done" : "failed") &&
                         checksum_of(trial, words, runs) == trials.integer(4);
      if (!whole) {
        lose(trial.point);
        continue;
      }
      if (!words.empty()) results_.failed.push_back({trial, words});
      for (SweepRun& run : runs) results_.runs.push_back(std::move(run));
    }
  }

  Database& database_;
  SweepDamage& damage_;
  SweepResults results_;
  std::set<std::int64_t> points_;                     ///< those that are whole
  std::map<SweepTrial, std::vector<SweepRun>> runs_;  ///< of which no trial was read yet
};

}  // namespace

std::int64_t checksum_of(const SweepIdentity& identity, const std::vector<SweepColumn>& columns) {
  RowChecksum checksum;
  checksum << identity.version << identity.build << static_cast<std::int64_t>(identity.hash) << identity.scenario_file
           << identity.scenario_name << identity.scenario << identity.resolved << identity.points << identity.seeds
           << identity.target_accuracy << identity.shard << identity.shards << identity.currency;
  for (const SweepColumn& column : columns) checksum << column.axis << column.path;
  return checksum.value();
}

std::int64_t checksum_of(const SweepResults::Point& point) {
  RowChecksum checksum;
  checksum << point.id << point.hash;
  for (const std::string& value : point.values) checksum << value;
  return checksum.value();
}

std::int64_t checksum_of_setting(const std::string& what, const std::string& data, const std::string& words) {
  return (RowChecksum() << what << data << words).value();
}

std::int64_t checksum_of(const SweepTrial& trial, const std::string& message, const std::vector<SweepRun>& runs) {
  RowChecksum checksum;
  checksum << trial.point << trial.seed << message;
  for (const SweepRun& run : runs) add(checksum, run);
  return checksum.value();
}

SweepResults read_what_is_whole(Database& database, SweepDamage& damage) { return Reader(database, damage).read(); }

SweepResults read_results(Database& database) {
  SweepDamage damage;
  SweepResults results = read_what_is_whole(database, damage);
  if (!damage.any()) return results;
  const std::vector<std::int64_t> points(damage.points.begin(), damage.points.end());
  std::string what = damage.results == 0 ? "all its results can still be read"
                                         : fmt::format("{} of its results {} lost, of point{} {}", damage.results,
                                                       damage.results == 1 ? "is" : "are",
                                                       points.size() == 1 ? "" : "s", ranges_in_words(points));
  if (!damage.structure.empty()) what += fmt::format(" ({})", damage.structure);
  refuse(database, "is damaged: " + what,
         fmt::format(
             "a copy of it, or dadsim merge NEW.sqlite {} --salvage, which keeps what is whole; dadsim sweep --out "
             "NEW.sqlite goes on with that",
             database.path()));
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
