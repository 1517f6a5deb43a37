#include "report/csv.hpp"

#include <fmt/format.h>

#include "report/csv_field.hpp"

namespace dadsim::report {
namespace {

/// Time to accuracy of what is timed, with its interval; empty where it is not known.
std::string scale_fields(const RunResult& run) {
  if (!run.at_scale || !run.at_scale->time) return ",,";
  const estimate::Estimate& time = run.at_scale->time_band ? *run.at_scale->time_band : *run.at_scale->time;
  return fmt::format("{},{},{}", csv_field(time.value), time.low ? csv_field(*time.low) : "",
                     time.high ? csv_field(*time.high) : "");
}

}  // namespace

std::string to_csv(const Result& result) {
  std::string csv =
      "scenario,seed,run,algorithm,exchange,workers,step,epoch,seconds,bytes,loss,accuracy,auc,seconds_low,seconds_"
      "high,compression_bites,timed_as,step_seconds,scale_seconds,scale_low,scale_high\n";
  const std::string timed_as = csv_field(result.timed_as_other ? result.timed_as : "");
  for (const RunResult& run : result.runs) {
    const std::string of_run = fmt::format("{},{},{},{},{},{}", csv_field(result.scenario_name), result.seed,
                                           csv_field(run.spec.label), csv_field(run.spec.algorithm),
                                           run.spec.communicates ? to_string(run.spec.exchange) : "", run.workers);
    const std::optional<estimate::Band> factors = run.factors();
    const std::string timed = fmt::format("{},{},{}", timed_as, csv_field(run.step_seconds), scale_fields(run));
    for (const CurvePoint& point : run.curve) {
      const double epoch =
          point.epochs.value_or(static_cast<double>(point.step) / static_cast<double>(run.steps_per_epoch));
      csv += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{}\n", of_run, point.step, csv_field(epoch), csv_field(point.seconds),
          csv_field(point.bytes), csv_field(point.loss), csv_field(point.accuracy), csv_field(point.auc),
          factors ? csv_field(point.seconds * factors->low) : "",
          factors ? csv_field(point.seconds * factors->high) : "", run.bites ? (*run.bites ? "yes" : "no") : "", timed);
    }
  }
  return csv;
}

}  // namespace dadsim::report
