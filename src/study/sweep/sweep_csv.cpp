#include "study/sweep/sweep_csv.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "report/text/csv_field.hpp"
#include "study/sweep/read_results.hpp"

namespace dadsim::study {
namespace {

std::string csv_header(const std::vector<SweepColumn>& columns) {
  std::string header = "point,seed";
  for (const SweepColumn& column : columns) header += "," + report::csv_field(column.path);
  return header + report::csv_names_of_figures() + ",failed\n";
}

/// `values`: of the point.
std::string csv_lines(const TrialResults& trial, const std::vector<std::string>& values) {
  std::string begin = std::to_string(trial.trial.point) + ',' + std::to_string(trial.trial.seed);
  for (const std::string& value : values) begin += "," + report::csv_field(value);
  std::string lines;
  if (!trial.message.empty()) {
    const std::string names = report::csv_names_of_figures();
    const std::string nothing(static_cast<std::size_t>(std::ranges::count(names, ',')), ',');  // in their columns
    lines += begin + nothing + ',' + report::csv_field(trial.message) + "\n";
  }
  for (const SweepRun& run : trial.runs) lines += begin + report::csv_fields_of(run.figures) + ",\n";
  return lines;
}

}  // namespace

std::string sweep_csv(const SweepResults& results) {
  std::map<std::int64_t, const SweepResults::Point*> points;
  for (const SweepResults::Point& point : results.points) points[point.id] = &point;
  std::map<SweepTrial, TrialResults> trials;
  for (const SweepRun& run : results.runs) trials[run.trial].runs.push_back(run);
  for (const FailedTrial& failed : results.failed) trials[failed.trial].message = failed.message;
  std::string csv = csv_header(results.columns);
  for (auto& [trial, of_trial] : trials) {
    of_trial.trial = trial;
    csv += csv_lines(of_trial, points.at(trial.point)->values);
  }
  return csv;
}

void write_sweep_csv(Database& database, const std::function<void(std::string_view)>& put) {
  ResultsReader reader(database);
  put(csv_header(reader.columns()));
  reader.each_trial([&](TrialResults&& trial) { put(csv_lines(trial, reader.values_of(trial.trial.point))); });
  reader.throw_if_damaged();
}

}  // namespace dadsim::study
