#include "report/csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace dadsim {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

}  // namespace

std::string to_csv(const Result& result) {
  std::string csv = "scenario,seed,run,algorithm,exchange,workers,step,epoch,seconds,bytes,loss,accuracy,auc\n";
  for (const RunResult& run : result.runs) {
    const std::string of_run =
        fmt::format("{},{},{},{},{},{}", quoted(result.scenario_name), result.seed, quoted(run.spec.label),
                    quoted(run.spec.algorithm), run.spec.communicates ? to_string(run.spec.topology) : "", run.workers);
    for (const CurvePoint& point : run.curve) {
      const double epoch = static_cast<double>(point.step) / static_cast<double>(run.steps_per_epoch);
      csv += fmt::format("{},{},{},{},{},{},{},{}\n", of_run, point.step, number(epoch), number(point.seconds),
                         number(point.bytes), number(point.loss), number(point.accuracy), number(point.auc));
    }
  }
  return csv;
}

}  // namespace dadsim
