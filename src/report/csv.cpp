#include "report/csv.hpp"

#include <fmt/format.h>

#include "report/csv_field.hpp"

namespace dadsim::report {

std::string to_csv(const Result& result) {
  std::string csv =
      "scenario,seed,run,algorithm,exchange,workers,step,epoch,seconds,bytes,loss,accuracy,auc,seconds_low,seconds_"
      "high,compression_bites\n";
  for (const RunResult& run : result.runs) {
    const std::string of_run = fmt::format("{},{},{},{},{},{}", csv_field(result.scenario_name), result.seed,
                                           csv_field(run.spec.label), csv_field(run.spec.algorithm),
                                           run.spec.communicates ? to_string(run.spec.exchange) : "", run.workers);
    const std::optional<estimate::Band> factors = run.factors();
    for (const CurvePoint& point : run.curve) {
      const double epoch =
          point.epochs.value_or(static_cast<double>(point.step) / static_cast<double>(run.steps_per_epoch));
      csv += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{}\n", of_run, point.step, csv_field(epoch), csv_field(point.seconds),
          csv_field(point.bytes), csv_field(point.loss), csv_field(point.accuracy), csv_field(point.auc),
          factors ? csv_field(point.seconds * factors->low) : "",
          factors ? csv_field(point.seconds * factors->high) : "", run.bites ? (*run.bites ? "yes" : "no") : "");
    }
  }
  return csv;
}

}  // namespace dadsim::report
