#include "study/sweep/run_columns.hpp"

#include <array>

namespace dadsim::study {
namespace {

using Figures = report::SweepReport::Figures;

/// A column that the CSV calls the same.
constexpr RunColumn both(const char* name, RunMember member, double Figures::*figure = nullptr) {
  return {name, member, name, figure};
}
constexpr RunColumn not_in_csv(const char* name, RunMember member) { return {name, member, nullptr}; }

constexpr std::array kRunColumns{
    not_in_csv("number", &SweepRun::number),
    RunColumn{"label", &SweepRun::label, "run"},
    both("algorithm", &SweepRun::algorithm),
    not_in_csv("communicates", &SweepRun::communicates),
    both("exchange", &SweepRun::exchange),
    both("workers", &SweepRun::workers),
    both("steps", &SweepRun::steps),
    both("final_accuracy", &SweepRun::final_accuracy, &Figures::final_accuracy),
    both("best_accuracy", &SweepRun::best_accuracy, &Figures::best_accuracy),
    both("final_auc", &SweepRun::final_auc),
    both("target_reached", &SweepRun::target_reached),
    both("target_step", &SweepRun::target_step, &Figures::target_step),
    both("target_seconds", &SweepRun::target_seconds, &Figures::target_seconds),
    both("target_after_seconds", &SweepRun::target_after_seconds),
    both("exact", &SweepRun::exact),
    both("step_seconds", &SweepRun::step_seconds, &Figures::step_seconds),
    both("compute_seconds", &SweepRun::compute_seconds),
    both("exposed_seconds", &SweepRun::exposed_seconds),
    both("first_step_seconds", &SweepRun::first_step_seconds),
    both("bytes_up", &SweepRun::bytes_up),
    both("bytes_down", &SweepRun::bytes_down),
    both("total_bytes", &SweepRun::total_bytes, &Figures::bytes),
    both("total_seconds", &SweepRun::total_seconds),
    both("bound_by", &SweepRun::bound_by),
    both("bound_kind", &SweepRun::bound_kind),
    both("bound_share", &SweepRun::bound_share),
    both("cause", &SweepRun::cause),
    both("cause_share", &SweepRun::cause_share),
    not_in_csv("causes", &SweepRun::causes),
    both("timed_as", &SweepRun::timed_as),
    both("samples_per_second", &SweepRun::samples_per_second),
    both("tokens_per_second", &SweepRun::tokens_per_second),
    both("model_flops_utilisation", &SweepRun::model_flops_utilisation),
    both("scaling_efficiency", &SweepRun::scaling_efficiency, &Figures::scaling_efficiency),
    both("sampling_error", &SweepRun::sampling_error),
    both("memory_bytes", &SweepRun::memory_bytes),
    not_in_csv("step_parts", &SweepRun::step_parts),
    both("relative_steps", &SweepRun::relative_steps),
    both("relative_low", &SweepRun::relative_low),
    both("relative_high", &SweepRun::relative_high),
    both("scale_seconds", &SweepRun::scale_seconds, &Figures::scale_seconds),
    both("scale_low", &SweepRun::scale_low),
    both("scale_high", &SweepRun::scale_high),
    both("money", &SweepRun::money, &Figures::money),
    both("joules", &SweepRun::joules, &Figures::joules),
    both("participation", &SweepRun::participation),
    both("mean_staleness", &SweepRun::mean_staleness),
    both("wasted_seconds", &SweepRun::wasted_seconds),
    both("wasted_bytes", &SweepRun::wasted_bytes),
    both("down_seconds", &SweepRun::down_seconds),
};

constexpr std::size_t kLineWidth = 120;  // SQLite keeps the statement as it was written, for people to read

const char* sql_type(std::int64_t SweepRun::*) { return "INTEGER NOT NULL"; }
const char* sql_type(bool SweepRun::*) { return "INTEGER NOT NULL"; }
const char* sql_type(std::string SweepRun::*) { return "TEXT NOT NULL"; }
const char* sql_type(double SweepRun::*) { return "REAL"; }

void bind(Statement& insert, const std::string& value) { insert << value; }
void bind(Statement& insert, double value) { insert << value; }
void bind(Statement& insert, std::int64_t value) { insert << value; }
void bind(Statement& insert, bool value) { insert << std::int64_t{value}; }

void read_into(std::string& value, const Statement& row, int column) { value = row.text(column); }
void read_into(double& value, const Statement& row, int column) { value = row.real(column); }
void read_into(std::int64_t& value, const Statement& row, int column) { value = row.integer(column); }
void read_into(bool& value, const Statement& row, int column) { value = row.integer(column) != 0; }

template <class Value>
bool equal(const Value& a, const Value& b) {
  return a == b || (a != a && b != b);  // not a number is as good as the other
}

}  // namespace

std::span<const RunColumn> run_columns() { return kRunColumns; }

std::string create_run_table() {
  std::string text;
  std::string line = "CREATE TABLE run(point INTEGER NOT NULL, seed INTEGER NOT NULL,";
  const auto add = [&](const std::string& part) {
    if (line.size() + 1 + part.size() > kLineWidth) {
      text += line + '\n';
      line = " ";
    }
    line += ' ' + part;
  };
  for (const RunColumn& column : kRunColumns) {
    const char* type = std::visit([](const auto member) { return sql_type(member); }, column.member);
    add(std::string(column.name) + ' ' + type + ',');
  }
  add("PRIMARY KEY(point, seed, number),");
  add("FOREIGN KEY(point, seed) REFERENCES trial) WITHOUT ROWID;");
  return text + line + '\n';
}

std::string insert_into_run() {
  std::string text = "INSERT INTO run VALUES(?,?";
  for (std::size_t i = 0; i < kRunColumns.size(); ++i) text += ",?";
  return text + ')';
}

void insert_run(Statement& insert, const SweepTrial& trial, const SweepRun& run) {
  insert << trial.point << trial.seed;
  for (const RunColumn& column : kRunColumns) {
    std::visit([&](const auto member) { bind(insert, run.*member); }, column.member);
  }
  insert.run();
}

std::string select_runs() {
  std::string select = "SELECT point, seed";
  for (const RunColumn& column : kRunColumns) select += std::string(", ") + column.name;
  return select + " FROM run ORDER BY point, seed, number";
}

SweepRun run_of_row(const Statement& row) {
  SweepRun run;
  run.trial = {row.integer(0), row.integer(1)};
  int place = 2;
  for (const RunColumn& column : kRunColumns) {
    std::visit([&](const auto member) { read_into(run.*member, row, place); }, column.member);
    ++place;
  }
  return run;
}

void add(RowChecksum& checksum, const SweepRun& run) {
  for (const RunColumn& column : kRunColumns) {
    std::visit([&](const auto member) { checksum << run.*member; }, column.member);
  }
}

const char* differing_column(const SweepRun& a, const SweepRun& b) {
  for (const RunColumn& column : kRunColumns) {
    if (!std::visit([&](const auto member) { return equal(a.*member, b.*member); }, column.member)) return column.name;
  }
  return nullptr;
}

}  // namespace dadsim::study
