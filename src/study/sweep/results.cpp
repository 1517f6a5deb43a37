#include "study/sweep/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "report/words/statement.hpp"
#include "scenario/xml/findings.hpp"
#include "support/diagnostics.hpp"
#include "support/fingerprint.hpp"
#include "support/shell_word.hpp"
#include "support/split.hpp"
#include "support/wire.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kApplication = 0x44414453;  // "DADS": PRAGMA application_id
constexpr std::int64_t kTables = 11;               // PRAGMA user_version: raised when a table changes

// Statements before the table of runs, and after it.
constexpr const char* kCreateFirst = R"(
CREATE TABLE sweep(version TEXT NOT NULL, build TEXT NOT NULL, hash TEXT NOT NULL, scenario_file TEXT NOT NULL,
  scenario_name TEXT NOT NULL, scenario TEXT NOT NULL, resolved TEXT NOT NULL, points INTEGER NOT NULL, seeds INTEGER NOT NULL,
  target_accuracy REAL NOT NULL, shard INTEGER NOT NULL, shards INTEGER NOT NULL,
  currency TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE axis(number INTEGER PRIMARY KEY, axis INTEGER NOT NULL, path TEXT NOT NULL);
CREATE TABLE point(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE value(point INTEGER NOT NULL REFERENCES point, number INTEGER NOT NULL REFERENCES axis, value TEXT NOT NULL,
  PRIMARY KEY(point, number)) WITHOUT ROWID;
CREATE TABLE trial(point INTEGER NOT NULL REFERENCES point, seed INTEGER NOT NULL, status TEXT NOT NULL,
  words TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY(point, seed)) WITHOUT ROWID;
)";
constexpr const char* kCreateLast =
    R"(CREATE TABLE setting(what TEXT NOT NULL, data TEXT NOT NULL, words TEXT NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY(what, data)) WITHOUT ROWID;
CREATE TABLE records(key TEXT PRIMARY KEY, kind TEXT NOT NULL, value BLOB NOT NULL);
)";

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

using report::Figure;
using report::figures;

constexpr std::size_t kLineWidth = 120;  // width of the statement, which SQLite keeps as written for people to read

const char* sql_type(Figure::Kind kind) {
  return kind == Figure::Kind::text ? "TEXT NOT NULL" : kind == Figure::Kind::number ? "REAL" : "INTEGER";
}

bool is_text(std::size_t figure) { return figures()[figure].kind == Figure::Kind::text; }

std::string create_run_table() {
  std::string text;
  std::string line = "CREATE TABLE run(point INTEGER NOT NULL, seed INTEGER NOT NULL, number INTEGER NOT NULL,";
  const auto add = [&](const std::string& part) {
    if (line.size() + 1 + part.size() > kLineWidth) {
      text += line + '\n';
      line = " ";
    }
    line += ' ' + part;
  };
  add("uncertainty TEXT NOT NULL,");
  for (const Figure& figure : figures()) add(std::string(figure.name) + ' ' + sql_type(figure.kind) + ',');
  add("PRIMARY KEY(point, seed, number),");
  add("FOREIGN KEY(point, seed) REFERENCES trial) WITHOUT ROWID;");
  return text + line + '\n';
}

/// Returns the number as SQLite returns it: all NaN are equal, and −0 becomes 0.
double as_kept(double value) { return value != value ? std::numeric_limits<double>::quiet_NaN() : value + 0.0; }

std::string marks(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += ",?";
  return text;
}

std::int64_t checksum(const WireWriter& row) { return static_cast<std::int64_t>(fingerprint(row.bytes())); }

}  // namespace

void create_tables(Database& database) {
  database.execute(fmt::format("{}{}{}PRAGMA application_id={}; PRAGMA user_version={};", kCreateFirst,
                               create_run_table(), kCreateLast, kApplication, kTables));
}

bool has_tables(Database& database, bool or_before) {
  const std::int64_t application = database.number("PRAGMA application_id").value_or(0);
  const std::int64_t tables = database.number("PRAGMA user_version").value_or(0);
  if (application == 0 && database.number("SELECT COUNT(*) FROM sqlite_schema").value_or(0) == 0) return false;
  if (application != kApplication)
    throw InputError(Diagnostic{database.path(), 0, "is a database of another program", "name another file"});
  const bool before = tables == kTables - 1;
  if (tables == kTables || (before && or_before)) return true;
  throw InputError(Diagnostic{
      database.path(), 0, fmt::format("has tables of version {}, but this dadsim writes version {}", tables, kTables),
      before ? fmt::format("convert the file with dadsim merge NEW.sqlite {}", shell_word(database.path()))
             : "name another file, or use the dadsim that made it"});
}

void write_identity(Database& database, const SweepIdentity& identity, const std::vector<SweepColumn>& columns) {
  database.execute("DELETE FROM sweep; DELETE FROM axis");
  SqlStatement insert(database, "INSERT INTO sweep VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert << identity.version << identity.build << hex(identity.hash) << identity.scenario_file << identity.scenario_name
         << identity.scenario << identity.resolved << identity.points << identity.seeds << identity.target_accuracy
         << identity.shard << identity.shards << identity.currency << checksum_of(identity, columns);
  insert.run();
  SqlStatement axis(database, "INSERT INTO axis VALUES(?,?,?)");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    axis << static_cast<std::int64_t>(i) + 1 << columns[i].axis << columns[i].path;
    axis.run();
  }
}

PointWriter::PointWriter(Database& database)
    : point_(database, "INSERT OR IGNORE INTO point VALUES(?,?,?)"),
      value_(database, "INSERT OR IGNORE INTO value VALUES(?,?,?)") {}

void PointWriter::write(const SweepResults::Point& point) {
  point_ << point.id << point.hash << checksum_of(point);
  point_.run();
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    value_ << point.id << static_cast<std::int64_t>(i) + 1 << point.values[i];
    value_.run();
  }
}

SweepSettings settings_of(const report::Result& result) {
  SweepSettings settings;
  if (!result.learned_on.empty() && !result.timing_only) settings.insert({"learned_on", result.learned_on});
  settings.insert({"timed_as", result.timed_as});
  if (result.asked_metric != spec::AskedMetric::automatic) settings.insert({"metric", to_string(result.asked_metric)});
  if (result.rate_as_tcp) settings.insert({"rate-as-tcp", report::in_words(*result.rate_as_tcp)});
  for (const report::Statement& one : result.assumptions) settings.insert({"assumption", report::to_text(one)});
  return settings;
}

void write_settings(Database& database, const SweepSettings& settings) {
  if (settings.empty()) return;
  Database::Transaction transaction(database);
  SqlStatement insert(database, "INSERT OR IGNORE INTO setting VALUES(?,?,?,?)");
  for (const auto& [what, data] : settings) {
    const std::string words = what == "assumption" ? report::in_words(report::statement_of(data)) : data;
    insert << what << data << words << checksum_of_setting(what, data, words);
    insert.run();
  }
  transaction.commit();
}

bool FailedTrial::is_infeasible() const { return message.starts_with(kInfeasible); }

const char* status_of(std::string_view message) {
  if (message.empty()) return "done";
  return message.starts_with(kInfeasible) ? "infeasible" : "failed";
}

TrialWriter::TrialWriter(Database& database)
    : trial_(database, "INSERT INTO trial VALUES(?,?,?,?,?)"),
      run_(database, "INSERT INTO run VALUES(?,?,?,?" + marks(figures().size()) + ')') {}

void TrialWriter::write(const SweepTrial& trial, const std::vector<SweepRun>& runs, const std::string& message) {
  trial_ << trial.point << trial.seed << status_of(message) << message << checksum_of(trial, message, runs);
  trial_.run();
  for (const SweepRun& run : runs) {
    run_ << trial.point << trial.seed << run.number << run.uncertainty;
    for (std::size_t i = 0; i < figures().size(); ++i) {
      if (is_text(i)) {
        run_ << run.figures.text(i);
      } else if (const double value = run.figures.number(i);
                 figures()[i].kind != Figure::Kind::number && std::isfinite(value) && value == std::trunc(value)) {
        run_ << static_cast<std::int64_t>(value);  // the column also accepts steps with fractions
      } else {
        run_ << value;
      }
    }
    run_.run();
  }
}

void write_trial(Database& database, const SweepTrial& trial, const std::vector<SweepRun>& runs,
                 const std::string& message) {
  Database::Transaction transaction(database);
  TrialWriter(database).write(trial, runs, message);
  transaction.commit();
}

std::string select_runs_of_trial() {
  std::string select = "SELECT point, seed, number, uncertainty";
  for (const Figure& figure : figures()) select += std::string(", ") + figure.name;
  return select + " FROM run WHERE point = ? AND seed = ? ORDER BY number";
}

SweepRun run_of_row(const SqlStatement& row) {
  SweepRun run{{row.integer(0), row.integer(1)}, row.integer(2), {}, row.text(3)};
  for (std::size_t i = 0; i < figures().size(); ++i) {
    const int column = static_cast<int>(i) + 4;
    if (is_text(i)) {
      run.figures.set(i, row.text(column));
    } else {
      run.figures.set(i, row.real(column));
    }
  }
  return run;
}

const char* differing_column(const SweepRun& a, const SweepRun& b) {
  if (a.number != b.number) return "number";
  if (a.uncertainty != b.uncertainty) return "uncertainty";
  const auto same = [&](std::size_t i) {
    if (is_text(i)) return a.figures.text(i) == b.figures.text(i);
    const double one = a.figures.number(i);
    const double other = b.figures.number(i);
    return one == other || (one != one && other != other);  // NaN values count as equal
  };
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (!same(i)) return figures()[i].name;
  }
  return nullptr;
}

std::int64_t checksum_of(const SweepIdentity& identity, const std::vector<SweepColumn>& columns) {
  WireWriter row;
  row(identity.version, identity.build, identity.hash, identity.scenario_file, identity.scenario_name,
      identity.scenario, identity.resolved, identity.points, identity.seeds, as_kept(identity.target_accuracy),
      identity.shard, identity.shards, identity.currency);
  for (const SweepColumn& column : columns) row(column.axis, column.path);
  return checksum(row);
}

std::int64_t checksum_of(const SweepResults::Point& point) {
  WireWriter row;
  row(point.id, point.hash);
  for (const std::string& value : point.values) row << value;
  return checksum(row);
}

std::int64_t checksum_of_setting(const std::string& what, const std::string& data, const std::string& words) {
  WireWriter row;
  row(what, data, words);
  return checksum(row);
}

std::int64_t checksum_of(const SweepTrial& trial, const std::string& message, const std::vector<SweepRun>& runs) {
  WireWriter row;
  row(trial.point, trial.seed, message);
  for (const SweepRun& run : runs) {
    row(run.number, run.uncertainty);
    for (std::size_t i = 0; i < figures().size(); ++i) {
      if (is_text(i)) {
        row << run.figures.text(i);
      } else {
        row << as_kept(run.figures.number(i));
      }
    }
  }
  return checksum(row);
}

std::int64_t count_runs(Database& database) { return database.number("SELECT COUNT(*) FROM run").value_or(0); }

double worst_sampling_error(const SweepResults& results) {
  double worst = 0;
  for (const SweepRun& run : results.runs) {
    const double error = run.figures["sampling_error"];
    if (error > worst) worst = error;
  }
  return worst;
}

std::string difference(const SweepIdentity& a, const SweepIdentity& b) {
  if (a.version != b.version) return fmt::format("was made by dadsim {}, not by {}", a.version, b.version);
  if (a.hash != b.hash) {
    return a.scenario_name == b.scenario_name
               ? "belongs to another sweep: its scenario or its axes differ"
               : fmt::format("belongs to another sweep: '{}', not '{}'", scenario::printable(a.scenario_name),
                             scenario::printable(b.scenario_name));
  }
  const auto other = [](const char* column, const auto& mine, const auto& theirs) {
    return fmt::format("belongs to another sweep: its {} is '{}', not '{}'", column, mine, theirs);
  };
  if (a.points != b.points) return other("points", a.points, b.points);
  if (a.seeds != b.seeds) return other("seeds", a.seeds, b.seeds);
  if (a.target_accuracy != b.target_accuracy) return other("target_accuracy", a.target_accuracy, b.target_accuracy);
  if (a.currency != b.currency) return other("currency", a.currency, b.currency);
  return {};
}

std::string build_difference(const SweepIdentity& a, const SweepIdentity& b) {
  if (a.build == b.build) return {};
  return fmt::format("was made by build {} of dadsim, not by {}", a.build, b.build);
}

std::string builds_of(const SweepIdentity& a, const SweepIdentity& b) {
  std::set<std::string> builds;
  for (const SweepIdentity* one : {&a, &b}) {
    for (std::string& word : words_of(one->build)) builds.insert(std::move(word));
  }
  return fmt::format("{}", fmt::join(builds, " "));
}

}  // namespace dadsim::study
