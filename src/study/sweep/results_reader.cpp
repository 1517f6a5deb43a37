#include "study/sweep/results_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "report/words/statement_text.hpp"
#include "spec/sweep_specification.hpp"
#include "study/sweep/read_results.hpp"
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

[[noreturn]] void nothing_is_left(const Database& database, const std::string& what) {
  throw InputError(Diagnostic{database.path(), 0,
                              fmt::format("is damaged: {}; nothing in it can be told from what is not so", what),
                              "a copy of it, or begin anew with another file"});
}

/// Rows of a table in the order of their keys. A row of which the next ones say that its key is not the one that was
/// written is lost, and none of its neighbours is with it.
template <class Row, class Key>
class RowsInOrder {
 public:
  /// `read`: the next row, as SQLite gives it; nothing at the end.
  RowsInOrder(std::function<std::optional<Row>()> read, Key key, std::function<void(const Row&)> lose)
      : read_(std::move(read)), key_(key), lose_(std::move(lose)) {
    ahead_ = read_();
    advance();
  }
  const std::optional<Row>& head() const { return head_; }
  Row take() {
    Row row = *std::move(head_);
    advance();
    return row;
  }

 private:
  void advance() {
    for (;;) {
      head_ = std::move(ahead_);
      ahead_ = head_ ? read_() : std::nullopt;
      if (!head_ || !ahead_ || !(key_(*ahead_) < key_(*head_))) return;
      lose_(*head_);
    }
  }

  std::function<std::optional<Row>()> read_;
  Key key_;
  std::function<void(const Row&)> lose_;
  std::optional<Row> head_, ahead_;
};

struct PointRow {
  SweepResults::Point point;
  std::int64_t checksum = 0;
};
struct ValueRow {
  std::int64_t point = 0, number = 0;
  std::string value;
};
struct TrialRow {
  TrialResults results;
  std::string status;
  std::int64_t checksum = 0;
};

/// Whether what was assumed has words here: a file may be of a dadsim that says more.
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

ResultsReader::ResultsReader(Database& database, SweepDamage& damage) : database_(database), damage_(damage) {
  check_structure();
  read_identity();
  scan([&] { read_settings(); });
  is_whole_.resize(static_cast<std::size_t>(identity_.points) + 1);
}

ResultsReader::~ResultsReader() = default;

void ResultsReader::lose(std::int64_t point) {
  ++damage_.results;
  damage_.points.insert(point);
}

/// What SQLite no longer gives of a table ends with it.
void ResultsReader::scan(const std::function<void()>& table) {
  try {
    table();
  } catch (const InputError& error) {
    if (damage_.structure.empty()) damage_.structure = error.diagnostics().front().what;
  }
}

void ResultsReader::check_structure() {
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

void ResultsReader::read_identity() {
  std::int64_t checksum = 0;
  bool whole = false;
  scan([&] {
    Statement select(database_,
                     "SELECT version, build, hash, scenario_file, scenario_name, scenario, resolved, points, seeds, "
                     "target_accuracy, shard, shards, currency, checksum FROM sweep");
    if (!select.step()) return;
    identity_.version = select.text(0);
    identity_.build = select.text(1);
    identity_.hash = from_hex(select.text(2));
    identity_.scenario_file = select.text(3);
    identity_.scenario_name = select.text(4);
    identity_.scenario = select.text(5);
    identity_.resolved = select.text(6);
    identity_.points = select.integer(7);
    identity_.seeds = select.integer(8);
    identity_.target_accuracy = select.real(9);
    identity_.shard = select.integer(10);
    identity_.shards = select.integer(11);
    identity_.currency = select.text(12);
    checksum = select.integer(13);
    Statement axes(database_, "SELECT axis, path FROM axis ORDER BY number");
    while (axes.step()) columns_.push_back({axes.integer(0), axes.text(1)});
    whole = !select.step();
  });
  if (!whole || checksum != checksum_of(identity_, columns_))
    nothing_is_left(database_, "it does not say any more of what sweep it is");
  if (identity_.points < 1 || identity_.points > spec::kMostSweepPoints || identity_.seeds < 1 ||
      identity_.seeds > spec::kMostSweepSeeds || identity_.shard < 1 || identity_.shard > identity_.shards)
    nothing_is_left(database_, "it is of a sweep that there cannot be");
}

void ResultsReader::read_settings() {
  Statement select(database_, "SELECT what, data, words, checksum FROM setting ORDER BY what, data");
  while (select.step()) {
    std::pair<std::string, std::string> setting{select.text(0), select.text(1)};
    if (checksum_of_setting(setting.first, setting.second, select.text(2)) == select.integer(3) &&
        is_readable(setting)) {
      settings_.insert(std::move(setting));
    } else if (damage_.structure.empty()) {
      damage_.structure = "a sentence of what was assumed is not the one that was written";
    }
  }
}

void ResultsReader::each_point(const std::function<void(SweepResults::Point&&)>& take) {
  Statement select_points(database_, "SELECT id, hash, checksum FROM point ORDER BY id");
  Statement select_values(database_, "SELECT point, number, value FROM value ORDER BY point, number");
  const auto read_value = [&] {
    std::optional<ValueRow> row;
    scan([&] {
      if (select_values.step()) row = {select_values.integer(0), select_values.integer(1), select_values.text(2)};
    });
    return row;
  };
  const auto read_point = [&] {
    std::optional<PointRow> row;
    scan([&] {
      if (select_points.step())
        row = {{select_points.integer(0), select_points.text(1), std::vector<std::string>(columns_.size())},
               select_points.integer(2)};
    });
    return row;
  };
  RowsInOrder values(
      std::function<std::optional<ValueRow>()>(read_value),
      [](const ValueRow& row) { return std::pair(row.point, row.number); },
      std::function<void(const ValueRow&)>([&](const ValueRow& row) { lose(row.point); }));
  RowsInOrder points(
      std::function<std::optional<PointRow>()>(read_point), [](const PointRow& row) { return row.point.id; },
      std::function<void(const PointRow&)>([&](const PointRow& row) { lose(row.point.id); }));
  while (points.head()) {
    PointRow row = points.take();
    const std::int64_t id = row.point.id;
    for (; values.head() && values.head()->point <= id;) {
      ValueRow value = values.take();
      if (value.point < id || value.number < 1 || value.number > static_cast<std::int64_t>(columns_.size())) {
        lose(value.point);
      } else {
        row.point.values[static_cast<std::size_t>(value.number - 1)] = std::move(value.value);
      }
    }
    if (id < 1 || id > identity_.points || checksum_of(row.point) != row.checksum) {
      lose(id);
      continue;
    }
    is_whole_[static_cast<std::size_t>(id)] = true;
    take(std::move(row.point));
  }
  while (values.head()) lose(values.take().point);
}

void ResultsReader::each_trial(const std::function<void(TrialResults&&)>& take) {
  Statement select_rows(database_, select_runs());
  Statement select_trials(database_, "SELECT point, seed, status, words, checksum FROM trial ORDER BY point, seed");
  const auto read_run = [&] {
    std::optional<SweepRun> row;
    scan([&] {
      if (select_rows.step()) row = run_of_row(select_rows);
    });
    return row;
  };
  const auto read_trial = [&] {
    std::optional<TrialRow> row;
    scan([&] {
      if (select_trials.step())
        row = {{{select_trials.integer(0), select_trials.integer(1)}, select_trials.text(3), {}},
               select_trials.text(2),
               select_trials.integer(4)};
    });
    return row;
  };
  std::optional<SweepTrial> lost;
  const auto lose_run = [&](const SweepRun& run) {  // once for all of a trial
    if (lost != run.trial) lose(run.trial.point);
    lost = run.trial;
  };
  RowsInOrder runs(
      std::function<std::optional<SweepRun>()>(read_run),
      [](const SweepRun& run) { return std::pair(run.trial, run.number); },
      std::function<void(const SweepRun&)>(lose_run));
  RowsInOrder trials(
      std::function<std::optional<TrialRow>()>(read_trial), [](const TrialRow& row) { return row.results.trial; },
      std::function<void(const TrialRow&)>([&](const TrialRow& row) { lose(row.results.trial.point); }));
  while (trials.head()) {
    TrialRow row = trials.take();
    TrialResults& results = row.results;
    const SweepTrial trial = results.trial;
    while (runs.head() && runs.head()->trial < trial) lose_run(runs.take());  // of no trial
    while (runs.head() && runs.head()->trial == trial) results.runs.push_back(runs.take());
    const bool whole = trial.point >= 1 && trial.point <= identity_.points &&
                       is_whole_[static_cast<std::size_t>(trial.point)] && trial.seed >= 0 &&
                       trial.seed < identity_.seeds && row.status == status_of(results.message) &&
                       checksum_of(trial, results.message, results.runs) == row.checksum;
    if (whole) {
      take(std::move(results));
    } else {
      lose(trial.point);
    }
  }
  while (runs.head()) lose_run(runs.take());
}

std::vector<std::string> ResultsReader::values_of(std::int64_t point) {
  if (!values_)
    values_ = std::make_unique<Statement>(database_, "SELECT value FROM value WHERE point = ? ORDER BY number");
  *values_ << point;
  std::vector<std::string> values;
  while (values_->step()) values.push_back(values_->text(0));
  return values;
}

}  // namespace dadsim::study
