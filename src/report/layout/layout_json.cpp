#include "report/layout/layout_report.hpp"
#include "report/text/json_values.hpp"
#include "report/words/report_head_json.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

Json json_of_parts(const StepParts& parts) {
  return {{"computing_seconds", number(parts.computing)},
          {"tensor_seconds", number(parts.tensor)},
          {"bubble_seconds", number(parts.bubble)},
          {"exchange_seconds", number(parts.exchange)}};
}

Json json_of_trial(const LayoutTrial& trial, const LayoutReport& report) {
  const spec::ParallelismSpec& how = trial.layout.how;
  Json json{{"replicas", trial.layout.replicas},
            {"batch", trial.layout.batch},
            {"tensor", how.tensor},
            {"sequence_parallel", how.sequence_parallel},
            {"context", how.context},
            {"pipeline", how.pipeline},
            {"interleave", how.interleave},
            {"schedule", spec::to_string(how.order)},
            {"micro_batch", how.micro_batch > 0 ? how.micro_batch : trial.layout.batch},
            {"recompute", spec::to_string(how.recomputation)},
            {"sharding", spec::to_string(how.sharding)},
            {"sharding_group", how.sharding_group > 0 ? Json(how.sharding_group) : Json(nullptr)},
            {"expert_parallel", how.experts},
            {"set", assignments_of(trial.layout)},
            {"written", trial.written},
            {"memory_bytes", number(trial.bytes)},
            {"fits", report.fits(trial.bytes)},
            {"estimate", json_of_parts(trial.estimate)}};
  json["simulated"] = nullptr;
  if (!trial.simulated) return json;
  const RunResult& run = *trial.simulated;
  Json& simulated = json["simulated"] = json_of_parts(trial.parts);
  simulated["step_seconds"] = number(run.step_seconds);
  simulated["low"] = run.step_band ? number(run.step_band->low) : Json(nullptr);
  simulated["high"] = run.step_band ? number(run.step_band->high) : Json(nullptr);
  simulated["may_be_wrong_by"] = number(doubt_of(run));
  simulated["samples_per_second"] = run.throughput ? number(run.throughput->samples) : Json(nullptr);
  simulated["tokens_per_second"] = run.throughput ? number(run.throughput->tokens) : Json(nullptr);
  simulated["model_flops_utilisation"] =
      run.throughput ? number(run.throughput->model_flops_utilisation) : Json(nullptr);
  return json;
}

}  // namespace

std::string to_json(const LayoutReport& report) {
  Json json = head_in_json(report);
  json["answer"] = {{"statements", in_json(answer_of(report))}};
  json["workload"] = report.workload;
  json["run"] = report.run;
  json["device"] = report.device;
  json["devices"] = report.devices;
  json["global_batch"] = report.global_batch;
  json["device_bytes"] = report.device_bytes > 0 ? number(report.device_bytes) : Json(nullptr);
  json["memory_margin"] = number(report.margin);
  json["divisible"] = report.divisible;
  json["fitting"] = report.fitting;
  Json& failed = json["failed"] = Json::array();
  for (const FailedLayout& one : report.failed)
    failed.push_back({{"set", assignments_of(one.layout)}, {"why", one.fault}});
  json["tied"] = report.tied;
  Json& layouts = json["layouts"] = Json::array();
  for (const LayoutTrial& trial : report.trials) layouts.push_back(json_of_trial(trial, report));
  json["front"] = report.front;
  json["without_room"] = report.roomy ? json_of_trial(*report.roomy, report) : Json(nullptr);
  json["fixed"] = report.fixed;
  json["written_unasked"] = report.unasked.empty() ? Json(nullptr) : json_of_trial(report.unasked.front(), report);
  json["written_without_room"] = report.unfit ? json_of_trial(*report.unfit, report) : Json(nullptr);
  json["assumptions"] = in_json(report.assumptions);
  return indented(json);
}

}  // namespace dadsim::report
