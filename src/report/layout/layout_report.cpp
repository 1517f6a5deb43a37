#include "report/layout/layout_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "estimate/bands.hpp"
#include "report/words/phrases.hpp"
#include "support/split.hpp"

namespace dadsim::report {
namespace {

Statement bound_of(const LayoutReport& report, const LayoutTrial& trial) {
  const double whole = trial.parts.total();
  return Statement{"layout-bound"}
      .with("computing", trial.parts.computing / whole)
      .with("tensor", trial.parts.tensor / whole)
      .with("bubble", trial.parts.bubble / whole)
      .with("exchange", trial.parts.exchange / whole)
      .with("bytes", trial.bytes)
      .with("device_bytes", report.device_bytes);
}

/// Adds how much longer a step takes than the best one, as a share, and the interval of nine measurements in ten.
/// Errors common to both steps cancel.
void add_gap(Statement& statement, const LayoutTrial& one, const LayoutTrial& best) {
  const double ratio = one.simulated->step_seconds / best.simulated->step_seconds;
  statement.with("gap", ratio - 1);
  if (!one.simulated->step_band || !best.simulated->step_band || &one == &best) return;
  const estimate::Band band = estimate::ratio_band(one.simulated->step_band->parts, best.simulated->step_band->parts);
  statement.with("gap_low", ratio * band.low - 1).with("gap_high", ratio * band.high - 1);
}

}  // namespace

double doubt_of(const RunResult& run) {
  const auto found = std::ranges::find(run.network.fidelity_notes, "late-ranks-by-flow", &Statement::kind);
  return found == run.network.fidelity_notes.end() ? 0 : found->number("share");
}

Statement statement_of(const Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  return Statement{"layout"}
      .with("replicas", static_cast<double>(layout.replicas))
      .with("tensor", static_cast<double>(how.tensor))
      .with("pipeline", static_cast<double>(how.pipeline))
      .with("interleave", static_cast<double>(how.interleave))
      .with("micro_batch", static_cast<double>(how.micro_batch > 0 ? how.micro_batch : layout.batch))
      .with("recompute", std::string(spec::to_string(how.recomputation)))
      .with("again", words::listed(words_of(to_text(how.recomputed_parts))))
      .with("sharding", std::string(spec::to_string(how.sharding)))
      .with("schedule", std::string(spec::to_string(how.order)))
      .with("context", static_cast<double>(how.context))
      .with("experts", static_cast<double>(how.experts))
      .with("sharding_group", static_cast<double>(how.sharding_group))
      .with("sequence_parallel", how.sequence_parallel);
}

std::vector<Statement> answer_of(const LayoutReport& report) {
  std::vector<Statement> answer;
  const auto about = [&](const char* kind) {
    Statement statement = Statement{kind, {report.workload, report.device}}
                              .with("devices", static_cast<double>(report.devices))
                              .with("global_batch", static_cast<double>(report.global_batch));
    if (!report.fixed.empty()) statement.with("fixed", fmt::format("{}", fmt::join(report.fixed, ", ")));
    return statement;
  };
  if (report.trials.empty()) {
    answer.push_back(about("no-layout")
                         .with("divisible", static_cast<double>(report.divisible))
                         .with("fitting", static_cast<double>(report.fitting))
                         .with("device_bytes", report.device_bytes)
                         .with("margin", report.margin));
  } else {
    const LayoutTrial& best = report.trials.front();
    Statement first = about("best-layout").with("step_seconds", best.simulated->step_seconds);
    if (const auto& done = best.simulated->throughput) {
      if (done->tokens) first.with("tokens_per_second", *done->tokens);
      first.with("samples_per_second", done->samples);
      if (done->model_flops_utilisation) first.with("utilisation", *done->model_flops_utilisation);
    }
    answer.push_back(first.with(statement_of(best.layout)));
    answer.push_back(bound_of(report, best));
    constexpr double kWorthSaying = 0.01;  // share of the step
    if (const double doubt = doubt_of(*best.simulated); doubt >= kWorthSaying)
      answer.push_back(Statement{"layout-doubt"}.with("share", doubt));
    if (report.tied > 1) answer.push_back(Statement{"layouts-tied"}.with("layouts", static_cast<double>(report.tied)));
    const auto written = std::ranges::find_if(report.trials, &LayoutTrial::written);
    if (written != report.trials.end()) {
      answer.push_back(Statement{"layout-written"}
                           .with("rank", static_cast<double>(written - report.trials.begin() + 1))
                           .with("of", static_cast<double>(report.trials.size())));
      add_gap(answer.back(), *written, best);
    }
  }
  for (const LayoutTrial& written : report.unasked) {
    const double seconds = written.simulated->step_seconds;
    answer.push_back(Statement{"layout-unasked"}.with("step_seconds", seconds));
    if (!report.trials.empty()) add_gap(answer.back(), written, report.trials.front());
  }
  if (report.unfit) {
    answer.push_back(Statement{"layout-unfit"}
                         .with("bytes", report.unfit->bytes)
                         .with("device_bytes", report.device_bytes)
                         .with("margin", report.margin));
  }
  if (report.roomy) {
    answer.push_back(Statement{"layout-no-room"}
                         .with("bytes", report.roomy->bytes)
                         .with("device_bytes", report.device_bytes)
                         .with("step_seconds", report.roomy->estimate.total())
                         .with(statement_of(report.roomy->layout)));
  }
  return answer;
}

}  // namespace dadsim::report
