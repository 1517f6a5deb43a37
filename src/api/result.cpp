#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "api/call.hpp"
#include "api/result_of.hpp"
#include "api/states.hpp"
#include "report/csv.hpp"
#include "report/html/report.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace dadsim::api::inline v1 {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

CurvePoint point_of(const report::CurvePoint& from, const report::RunResult& run) {
  CurvePoint point;
  point.step = from.step;
  point.epochs = from.epochs.value_or(
      run.steps_per_epoch > 0 ? static_cast<double>(from.step) / static_cast<double>(run.steps_per_epoch) : kUnknown);
  point.seconds = from.seconds;
  point.bytes = from.bytes;
  point.loss = from.loss;
  point.accuracy = from.accuracy;
  point.auc = from.auc;
  return point;
}

Run run_of(const report::RunResult& from) {
  Run run;
  run.label = from.spec.label;
  run.algorithm = from.spec.algorithm;
  run.steps = from.steps;
  run.workers = from.workers;
  run.target_reached = from.target_reached;
  run.target_step = from.target_reached ? from.target_step : 0;
  run.target_seconds = from.target_reached ? from.target_seconds : kUnknown;
  const std::optional<estimate::Estimate> scale = from.at_scale ? from.at_scale->time : std::nullopt;
  run.scale_seconds = scale ? scale->value : kUnknown;
  run.scale_low = scale ? scale->low.value_or(kUnknown) : kUnknown;
  run.scale_high = scale ? scale->high.value_or(kUnknown) : kUnknown;
  run.final_accuracy = from.final_accuracy;
  run.best_accuracy = from.best_accuracy;
  run.step_seconds = from.step_seconds;
  run.compute_seconds = from.compute_seconds;
  run.exposed_seconds = from.exposed_seconds;
  run.first_step_seconds = from.first_step_seconds;
  run.total_seconds = from.total_seconds;
  run.bytes_up = from.bytes_up_per_worker;
  run.bytes_down = from.bytes_down_per_worker;
  run.total_bytes = from.total_bytes;
  run.memory_bytes = from.memory.total();
  run.money = from.costs ? from.costs->whole.money.value_or(kUnknown) : kUnknown;
  run.joules = from.costs ? from.costs->whole.joules.value_or(kUnknown) : kUnknown;
  if (!from.bounds.empty()) run.bound_by = name_of(from.bounds.front());
  run.bound_share = from.bounds.empty() ? kUnknown : from.bounds.front().share;
  run.notes = from.notes;
  for (const report::CurvePoint& point : from.curve) run.curve.push_back(point_of(point, from));
  return run;
}

}  // namespace

Result result_of(report::Result&& from) {
  auto state = std::make_shared<Result::State>();
  for (const report::RunResult& run : from.runs) state->runs.push_back(run_of(run));
  state->result = std::move(from);
  return Result(std::move(state));
}

Result::Result(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

const std::vector<Run>& Result::runs() const noexcept { return state_->runs; }

const Run& Result::run(const std::string& label) const {
  const auto found = std::ranges::find(state_->runs, label, &Run::label);
  if (found == state_->runs.end()) throw std::out_of_range("there is no run '" + label + "'");
  return *found;
}

const std::vector<std::string>& Result::assumptions() const noexcept { return state_->result.assumptions; }
std::string Result::json() const { return to_json(state_->result); }
std::string Result::csv() const { return to_csv(state_->result); }
std::string Result::table() const { return to_table(state_->result); }
std::string Result::html() const { return to_html(state_->result); }

}  // namespace dadsim::api::inline v1
