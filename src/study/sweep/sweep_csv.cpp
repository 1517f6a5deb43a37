#include "study/sweep/sweep_csv.hpp"

#include <map>

#include "report/csv_field.hpp"
#include "study/sweep/run_columns.hpp"

namespace dadsim::study {
namespace {

std::string csv_cell(const std::string& text) { return report::csv_field(text); }
std::string csv_cell(double value) { return report::csv_field(value); }
std::string csv_cell(std::int64_t value) { return std::to_string(value); }
std::string csv_cell(bool value) { return value ? "true" : "false"; }

}  // namespace

std::string sweep_csv(const SweepResults& results) {
  std::string csv = "point,seed";
  for (const SweepColumn& column : results.columns) csv += "," + report::csv_field(column.path);
  std::string nothing;  // in the columns of a run
  for (const RunColumn& column : run_columns()) {
    if (column.csv == nullptr) continue;
    csv += std::string(",") + column.csv;
    nothing += ',';
  }
  csv += ",failed\n";
  std::map<std::int64_t, const SweepResults::Point*> points;
  for (const SweepResults::Point& point : results.points) points[point.id] = &point;
  const auto begin = [&](const SweepTrial& trial) {
    std::string line = std::to_string(trial.point) + ',' + std::to_string(trial.seed);
    for (const std::string& value : points.at(trial.point)->values) line += "," + report::csv_field(value);
    return line;
  };
  std::map<std::pair<SweepTrial, std::int64_t>, std::string> lines;
  for (const SweepRun& run : results.runs) {
    std::string line = begin(run.trial);
    for (const RunColumn& column : run_columns()) {
      if (column.csv == nullptr) continue;
      line += ',';
      line += std::visit([&](const auto member) { return csv_cell(run.*member); }, column.member);
    }
    lines[{run.trial, run.number}] = line + ",\n";
  }
  for (const FailedTrial& failed : results.failed) {
    lines[{failed.trial, 0}] = begin(failed.trial) + nothing + ',' + report::csv_field(failed.message) + "\n";
  }
  for (const auto& [key, line] : lines) csv += line;
  return csv;
}

}  // namespace dadsim::study
