#include "report/run/csv.hpp"

#include <fmt/format.h>

#include "report/run/figure_values.hpp"
#include "report/text/csv_field.hpp"

namespace dadsim::report {
std::string to_csv(const Result& result) {
  const std::size_t label = figure_index("label");
  std::string csv = fmt::format(
      "scenario,seed,label,step,epochs,seconds,bytes,loss,accuracy,auc,seconds_low,seconds_high,timed_as{}\n",
      csv_names_of_figures(label + 1));
  const std::string scenario = fmt::format("{},{}", csv_field(result.scenario_name), result.seed);
  for (const RunResult& run : result.runs) {
    const FigureValues values({run, result});
    const std::string of_run = fmt::format("{},{}", scenario, csv_field_of(values, label));
    const std::string figures = csv_field(result.timed_as) + csv_fields_of(values, label + 1);
    const std::optional<estimate::Band> factors = run.factors();
    for (const CurvePoint& point : run.curve) {
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", of_run, point.step, csv_field(run.epochs_at(point)),
                         csv_field(point.seconds), csv_field(point.bytes), csv_field(point.loss),
                         csv_field(point.accuracy), csv_field(point.auc),
                         factors ? csv_field(point.seconds * factors->low) : "",
                         factors ? csv_field(point.seconds * factors->high) : "", figures);
    }
  }
  return csv;
}

}  // namespace dadsim::report
