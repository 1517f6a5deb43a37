#include "study/sweep/run_columns.hpp"

#include <cmath>

namespace dadsim::study {
namespace {

using report::Figure;
using report::figures;

constexpr std::size_t kLineWidth = 120;  // SQLite keeps the statement as it was written, for people to read

const char* sql_type(Figure::Kind kind) {
  return kind == Figure::Kind::text ? "TEXT NOT NULL" : kind == Figure::Kind::number ? "REAL" : "INTEGER";
}

bool is_text(std::size_t figure) { return figures()[figure].kind == Figure::Kind::text; }

}  // namespace

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

std::string insert_into_run() {
  std::string text = "INSERT INTO run VALUES(?,?,?,?";
  for (std::size_t i = 0; i < figures().size(); ++i) text += ",?";
  return text + ')';
}

void insert_run(Statement& insert, const SweepTrial& trial, const SweepRun& run) {
  insert << trial.point << trial.seed << run.number << run.uncertainty;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (is_text(i)) {
      insert << run.figures.text(i);
    } else if (const double value = run.figures.number(i);
               figures()[i].kind != Figure::Kind::number && std::isfinite(value) && value == std::trunc(value)) {
      insert << static_cast<std::int64_t>(value);  // known steps may have fractions, which the column takes as well
    } else {
      insert << value;
    }
  }
  insert.run();
}

std::string select_runs() {
  std::string select = "SELECT point, seed, number, uncertainty";
  for (const Figure& figure : figures()) select += std::string(", ") + figure.name;
  return select + " FROM run ORDER BY point, seed, number";
}

SweepRun run_of_row(const Statement& row) {
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

void add(RowChecksum& checksum, const SweepRun& run) {
  checksum << run.number << std::string_view(run.uncertainty);
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (is_text(i)) {
      checksum << std::string_view(run.figures.text(i));
    } else {
      checksum << run.figures.number(i);
    }
  }
}

const char* differing_column(const SweepRun& a, const SweepRun& b) {
  if (a.number != b.number) return "number";
  if (a.uncertainty != b.uncertainty) return "uncertainty";
  const auto same = [&](std::size_t i) {
    if (is_text(i)) return a.figures.text(i) == b.figures.text(i);
    const double one = a.figures.number(i);
    const double other = b.figures.number(i);
    return one == other || (one != one && other != other);  // not a number is as good as the other
  };
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (!same(i)) return figures()[i].name;
  }
  return nullptr;
}

}  // namespace dadsim::study
