#include "study/sweep/sweep_csv.hpp"

#include <algorithm>
#include <map>

#include "report/text/csv_field.hpp"

namespace dadsim::study {
std::string sweep_csv(const SweepResults& results) {
  std::string csv = "point,seed";
  for (const SweepColumn& column : results.columns) csv += "," + report::csv_field(column.path);
  const std::string names = report::csv_names_of_figures();
  const std::string nothing(static_cast<std::size_t>(std::ranges::count(names, ',')), ',');  // in their columns
  csv += names + ",failed\n";
  std::map<std::int64_t, const SweepResults::Point*> points;
  for (const SweepResults::Point& point : results.points) points[point.id] = &point;
  const auto begin = [&](const SweepTrial& trial) {
    std::string line = std::to_string(trial.point) + ',' + std::to_string(trial.seed);
    for (const std::string& value : points.at(trial.point)->values) line += "," + report::csv_field(value);
    return line;
  };
  std::map<std::pair<SweepTrial, std::int64_t>, std::string> lines;
  for (const SweepRun& run : results.runs) {
    lines[{run.trial, run.number}] = begin(run.trial) + report::csv_fields_of(run.figures) + ",\n";
  }
  for (const FailedTrial& failed : results.failed) {
    lines[{failed.trial, 0}] = begin(failed.trial) + nothing + ',' + report::csv_field(failed.message) + "\n";
  }
  for (const auto& [key, line] : lines) csv += line;
  return csv;
}

}  // namespace dadsim::study
