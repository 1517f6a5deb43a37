#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "report/layout/layout_report.hpp"
#include "report/run/table.hpp"
#include "report/text/grid.hpp"
#include "report/text/rate.hpp"
#include "report/text/seconds.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Cells = std::vector<std::string>;

/// "8×8×2" of data × tensor × pipeline, with the pieces of a stage behind it where there are several, and parts of a
/// sequence (CP) and devices that divide experts (EP). ZB is ZB-H1, V DualPipeV, G GPipe.
std::string division_of(const Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  const char* order = how.order == spec::PipelineOrder::zero_bubble  ? " ZB"
                      : how.order == spec::PipelineOrder::dualpipe_v ? " V"
                      : how.order == spec::PipelineOrder::gpipe      ? " G"
                                                                     : "";
  const auto where_several = [](const char* name, std::int32_t count) {
    return count > 1 ? fmt::format(" {} {}", name, count) : std::string();
  };
  return fmt::format("{}×{}×{}{}{}{}{}", layout.replicas, how.tensor, how.pipeline,
                     how.interleave > 1 ? fmt::format(" ({})", how.interleave) : "", order,
                     where_several("CP", how.context), where_several("EP", how.experts));
}

std::string zero_of(const spec::ParallelismSpec& how) {
  if (how.sharding == spec::Sharding::none) return "–";
  return fmt::format("ZeRO-{}{}", static_cast<int>(how.sharding),
                     how.sharding_group > 0 ? fmt::format(" of {}", how.sharding_group) : "");
}

/// With what it may be wrong by, where that is worth saying.
std::string step_of(const RunResult& run) {
  constexpr double kLeast = 0.01;
  const double doubt = doubt_of(run);
  return human_seconds(run.step_seconds) + (doubt >= kLeast ? fmt::format(" ±{:.0f} %", 100 * doubt) : "");
}

std::string share_of(double part, const LayoutTrial& trial) { return human_percent(part / trial.parts.total()); }

Cells row_of(const LayoutTrial& trial) {
  const Layout& layout = trial.layout;
  const RunResult& run = *trial.simulated;
  const auto& done = run.throughput;
  return {division_of(layout) + (trial.written ? " *" : ""),
          fmt::format("{}", layout.how.micro_batch > 0 ? layout.how.micro_batch : layout.batch),
          layout.how.recomputation == spec::Recomputation::none ? "–" : spec::to_string(layout.how.recomputation),
          zero_of(layout.how),
          step_of(run),
          done && done->tokens ? rate_in_words(*done->tokens) : "–",
          done ? rate_in_words(done->samples) : "–",
          done && done->model_flops_utilisation ? human_percent(*done->model_flops_utilisation) : "–",
          human_bytes(trial.bytes),
          share_of(trial.parts.computing, trial),
          share_of(trial.parts.tensor, trial),
          share_of(trial.parts.bubble, trial),
          share_of(trial.parts.exchange, trial)};
}

std::string grid_of(const std::vector<const LayoutTrial*>& trials) {
  std::vector<Cells> rows{{"data×tensor×pipeline", "micro", "again", "sharding", "a step", "tokens/s", "samples/s",
                           "MFU", "memory", "computing", "layer sums", "bubble", "exchange"}};
  for (const LayoutTrial* trial : trials) rows.push_back(row_of(*trial));
  std::vector<std::size_t> columns(rows.front().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::erase_if(columns, [&](std::size_t column) {  // tokens where there are some, else samples
    const bool none = std::all_of(rows.begin() + 1, rows.end(), [&](const Cells& row) { return row[column] == "–"; });
    constexpr std::size_t kTokens = 5;
    constexpr std::size_t kSamples = 6;
    return (none && column >= kTokens) || (column == kSamples && rows.size() > 1 && rows[1][kTokens] != "–");
  });
  return grid(rows, columns);
}

}  // namespace

Summary summary_of(const LayoutReport& report, bool verbose) {
  Summary summary;
  summary.answer = paragraph(as_paragraph(answer_of(report)));
  std::string& text = summary.body;
  if (!report.trials.empty()) {
    std::vector<const LayoutTrial*> best;
    for (std::size_t i = 0; i < report.trials.size(); ++i) {
      if (i < kBestLayouts || report.trials[i].written || verbose) best.push_back(&report.trials[i]);
    }
    text = grid_of(best);
    if (std::ranges::any_of(report.trials, &LayoutTrial::written)) text += "* as the scenario has it\n";
    std::vector<const LayoutTrial*> front;
    for (const std::size_t i : report.front) front.push_back(&report.trials[i]);
    if (front.size() > 1) text += "\nFrom the quickest to what needs the least memory:\n" + grid_of(front);
    text += '\n';
    text += paragraph(
        fmt::format("To have it: --set {}", fmt::join(assignments_of(report.trials.front().layout), " --set ")));
  }
  text += paragraph(in_words(Statement{"layouts-searched"}
                                 .with("divisible", static_cast<double>(report.divisible))
                                 .with("fitting", static_cast<double>(report.fitting))
                                 .with("simulated", static_cast<double>(report.trials.size()))
                                 .with("margin", report.margin)));
  if (!report.failed.empty()) {
    text += paragraph(in_words(Statement{"layouts-failed"}
                                   .with("layouts", static_cast<double>(report.failed.size()))
                                   .with("fault", report.failed.front().fault)));
  }
  summary.background = background_of(report, verbose);
  return summary;
}

std::string to_table(const LayoutReport& report) { return summary_of(report, true).all(); }

}  // namespace dadsim::report
