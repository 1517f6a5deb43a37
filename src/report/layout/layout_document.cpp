#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "report/layout/layout_report.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

/// Returns "8×8×2": data × tensor × pipeline parallelism. The chunks of a stage are in brackets; ZB is ZB-H1, V
/// DualPipeV, G GPipe; CP and EP are context and expert parallelism.
std::string division_of(const LayoutTrial& trial) {
  const spec::ParallelismSpec& how = trial.layout.how;
  const char* order = how.order == spec::PipelineOrder::zero_bubble  ? " ZB"
                      : how.order == spec::PipelineOrder::dualpipe_v ? " V"
                      : how.order == spec::PipelineOrder::gpipe      ? " G"
                                                                     : "";
  const auto where_several = [](const char* name, std::int32_t count) {
    return count > 1 ? fmt::format(" {} {}", name, count) : std::string();
  };
  return fmt::format("{}×{}×{}{}{}{}{}{}", trial.layout.replicas, how.tensor, how.pipeline,
                     how.interleave > 1 ? fmt::format(" ({})", how.interleave) : "", order,
                     where_several("CP", how.context), where_several("EP", how.experts), trial.written ? " *" : "");
}

std::string zero_of(const spec::ParallelismSpec& how) {
  if (how.sharding == spec::Sharding::none) return "–";
  return fmt::format("ZeRO-{}{}", static_cast<int>(how.sharding),
                     how.sharding_group > 0 ? fmt::format(" of {}", how.sharding_group) : "");
}

/// Returns the time of a step, with its possible relative error if that is at least 1 %.
std::string step_of(const RunResult& run) {
  constexpr double kLeast = 0.01;
  const double doubt = doubt_of(run);
  return human_seconds(run.step_seconds) + (doubt >= kLeast ? fmt::format(" ±{:.0f} %", 100 * doubt) : "");
}

void add_layout(TableRow row, const LayoutTrial& trial) {
  const spec::ParallelismSpec& how = trial.layout.how;
  const bool again = how.recomputation != spec::Recomputation::none;
  row.say("data×tensor×pipeline", division_of(trial))
      .add("replicas", trial.layout.replicas, "batch", trial.layout.batch, "tensor", how.tensor, "sequence_parallel",
           how.sequence_parallel, "context", how.context, "pipeline", how.pipeline, "interleave", how.interleave,
           "schedule", spec::to_string(how.order))
      .add("micro_batch", "micro", how.micro_batch > 0 ? how.micro_batch : trial.layout.batch, Unit::plain)
      .add("recompute", "again", spec::to_string(how.recomputation), Unit::plain,
           again ? spec::to_string(how.recomputation) : "–")
      .add("sharding", "sharding", spec::to_string(how.sharding), Unit::plain, zero_of(how))
      .add("sharding_group", or_null(how.sharding_group > 0, how.sharding_group), "expert_parallel", how.experts, "set",
           trial.layout.set, "written", trial.written);
}

void add_parts(TableRow row, const std::string& of, const StepParts& parts, bool for_people) {
  const auto add = [&](const char* name, const char* title, double seconds) {
    row.add(of + name, for_people ? title : "", seconds, Unit::seconds, human_percent(seconds / parts.total()));
  };
  add(".computing_seconds", "computing", parts.computing);
  add(".tensor_seconds", "layer sums", parts.tensor);
  add(".bubble_seconds", "bubble", parts.bubble);
  add(".exchange_seconds", "exchange", parts.exchange);
}

void add_trial(TableRow row, const LayoutTrial& trial, const LayoutReport& report) {
  add_layout(row, trial);
  row.add("memory_bytes", trial.bytes, "fits", report.fits(trial.bytes));
  add_parts(row, "estimate", trial.estimate, false);
  if (!trial.simulated) {
    row.add("simulated", DocumentValue());
    return;
  }
  const RunResult& run = *trial.simulated;
  const double best = report.trials.empty() ? run.step_seconds : report.trials.front().simulated->step_seconds;
  const Throughput* done = run.throughput ? &*run.throughput : nullptr;
  const bool tokens = done != nullptr && done->tokens;
  row.add("simulated.step_seconds", "a step", run.step_seconds, Unit::seconds, step_of(run))
      .add("simulated.low", run.step_band ? DocumentValue(run.step_band->low) : DocumentValue(), "simulated.high",
           run.step_band ? DocumentValue(run.step_band->high) : DocumentValue(), "simulated.may_be_wrong_by",
           doubt_of(run))
      .add("simulated.tokens_per_second", tokens ? "tokens/s" : "",
           done ? DocumentValue(done->tokens) : DocumentValue(), Unit::rate)
      .add("simulated.samples_per_second", tokens ? "" : "samples/s",
           done ? DocumentValue(done->samples) : DocumentValue(), Unit::rate)
      .add("simulated.model_flops_utilisation", "MFU",
           done ? DocumentValue(done->model_flops_utilisation) : DocumentValue(), Unit::share)
      .say("memory", human_bytes(trial.bytes))
      .page("slower by", human_percent(run.step_seconds / best - 1));
  add_parts(row, "simulated", trial.parts, true);
}

/// Returns the layout and its other settings: "16×1×1, micro 8, ZeRO-1".
std::string label_of(const LayoutTrial& trial) {
  const spec::ParallelismSpec& how = trial.layout.how;
  const bool again = how.recomputation != spec::Recomputation::none;
  return fmt::format("{}, micro {}{}{}{}", division_of(trial),
                     how.micro_batch > 0 ? how.micro_batch : trial.layout.batch,
                     how.sharding == spec::Sharding::none ? "" : ", " + zero_of(how), again ? ", " : "",
                     again ? std::string(spec::to_string(how.recomputation)) + " again" : "");
}

/// Returns a chart of the parts of a step in the quickest layouts, as shares, so that a slow layout does not hide the
/// others.
Chart parts_of_steps(const LayoutReport& report) {
  constexpr std::size_t kMostBars = 10;
  Chart chart{.name = "parts",
              .title = "Shares of a step of the fastest layouts",
              .kind = Chart::Kind::stacked,
              .y = {"share of a step", Unit::share},
              .above =
                  "Computing is simulated. The closed form divides the other time: exchange among the "
                  "devices of a worker, idle stages, and exposed exchange of gradients and parameters among "
                  "workers. The step time is printed before each layout."};
  constexpr std::tuple<const char*, double StepParts::*, const char*> kParts[] = {
      {"computing", &StepParts::computing, "compute"},
      {"among the devices of a layer", &StepParts::tensor, "communication"},
      {"bubble", &StepParts::bubble, "waiting"},
      {"exchange among replicas", &StepParts::exchange, "bandwidth"}};
  const std::size_t count = std::min(kMostBars, report.trials.size());
  for (std::size_t i = 0; i < count; ++i)
    chart.names.push_back(
        fmt::format("{}: {}", human_seconds(report.trials[i].simulated->step_seconds), label_of(report.trials[i])));
  for (const auto& [label, part, look] : kParts) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < count; ++i)
      shares.push_back(report.trials[i].parts.*part / report.trials[i].parts.total());
    if (std::ranges::any_of(shares, [](double share) { return share > 0; })) chart.add_bars(label, shares, look);
  }
  return chart;
}

/// Returns a chart of step time against memory of a device: the Pareto front and the other simulated layouts. The time
/// axis is logarithmic if a slow layout would make the others indistinguishable.
Chart time_against_memory(const LayoutReport& report) {
  Chart chart{.name = "time-and-memory",
              .title = "Time of a step against memory of a device",
              .x = {"memory of a device", Unit::bytes},
              .y = {"a step", Unit::seconds},
              .series = {{.label = "no other layout is faster with less memory"},
                         {.label = "other simulated layouts", .marks_only = true}}};
  const auto point = [&](std::size_t i) {
    const LayoutTrial& trial = report.trials[i];
    return ChartPoint{.x = trial.bytes, .y = trial.simulated->step_seconds, .words = label_of(trial)};
  };
  for (std::size_t i = 0; i < report.trials.size(); ++i)
    if (std::ranges::find(report.front, i) == report.front.end()) chart.series[1].points.push_back(point(i));
  for (auto i = report.front.rbegin(); i != report.front.rend(); ++i) chart.series[0].points.push_back(point(*i));
  if (report.device_bytes > 0)
    chart.limits = {{report.device_bytes, "the device has " + human_bytes(report.device_bytes), true}};
  std::erase_if(chart.series, [](const ChartSeries& series) { return series.points.empty(); });
  chart.choose_scales();
  constexpr double kSlow = 4;  // times the fastest step
  if (report.trials.back().simulated->step_seconds >= kSlow * report.trials.front().simulated->step_seconds)
    chart.y.logarithmic = true;
  return chart;
}

DocumentTable object_of(const LayoutTrial* trial, const LayoutReport& report) {
  DocumentTable table{.object = true};
  if (trial != nullptr) add_trial(table.add_row(), *trial, report);
  return table;
}

}  // namespace

DocumentTable facts_of(const std::vector<Statement>& answer) {
  constexpr std::pair<const char*, const char*> kTitles[] = {
      {"layout-bound", "Its step"},         {"layout-doubt", "Doubt"},
      {"layouts-tied", "Not told apart"},   {"layout-written", "The scenario's"},
      {"layout-unasked", "The scenario's"}, {"layout-unfit", "The scenario's"},
      {"layout-no-room", "With memory"},    {"train-step", "A step"},
      {"train-layout", "Layout"},           {"train-next", "Others"},
      {"train-help", "What helps"}};
  DocumentTable facts;
  for (std::size_t i = 1; i < answer.size(); ++i) {
    const auto* title = std::ranges::find(kTitles, answer[i].kind, &std::pair<const char*, const char*>::first);
    facts.add_row()
        .add("about", "about", title == std::end(kTitles) ? "" : title->second, Unit::text)
        .add("words", "answer", in_words(answer[i]), Unit::text);
  }
  facts.style.prose = true;
  return facts;
}

Document document_of(const LayoutReport& report) {
  Document document{report, answer_of(report)};
  document.command = "dadsim layout";
  document.setting = fmt::format("{} on {} {}, {} samples a step", report.workload, human_count(report.devices),
                                 report.device, human_count(report.global_batch));
  document.sentences = 1;
  DocumentTable facts = facts_of(document.answer);
  const bool more = !facts.rows.empty();
  document.parts.push_back({.name = "facts",
                            .shown = Shown::always,
                            .what = std::move(facts),
                            .text = more ? "\n" : "",
                            .page_alone = true});
  if (!report.trials.empty()) document.charts = {parts_of_steps(report), time_against_memory(report)};
  document.add("workload", report.workload, "run", report.run, "device", report.device, "devices", report.devices,
               "global_batch", report.global_batch, "device_bytes",
               or_null(report.device_bytes > 0, report.device_bytes), "memory_margin", report.margin, "divisible",
               report.divisible, "fitting", report.fitting, "failed",
               list_of(report.failed, "set", &FailedLayout::set, "why", &FailedLayout::fault), "tied", report.tied);
  DocumentTable layouts{.best_first = true};
  for (std::size_t i = 0; i < report.trials.size(); ++i)
    add_trial(layouts.add_row(i >= kBestLayouts && !report.trials[i].written), report.trials[i], report);
  const bool written = std::ranges::any_of(report.trials, &LayoutTrial::written);
  document.print(
      "Fastest first. CP: parts of a sequence; EP: devices that divide experts; in brackets: pieces per stage; ZB: "
      "ZB-H1; V: DualPipeV; G: GPipe.",
      Shown::page);
  document.parts.push_back({.name = "layouts",
                            .shown = Shown::always,
                            .what = std::move(layouts),
                            .text = written ? "* layout of the scenario\n" : ""});
  document.add("front", std::vector<std::int64_t>(report.front.begin(), report.front.end()));
  if (report.front.size() > 1) {
    DocumentTable front;
    for (const std::size_t i : report.front) add_trial(front.add_row(), report.trials[i], report);
    document.parts.push_back({.shown = Shown::always,
                              .heading = "From the fastest to the one with the least memory:",
                              .what = std::move(front)});
  }
  if (!report.trials.empty()) {
    document.parts.push_back({.shown = Shown::always, .what = BestSettings{report.trials.front().layout.set}});
  }
  document.add("without_room", object_of(report.roomy ? &*report.roomy : nullptr, report), "fixed", report.fixed,
               "written_unasked", object_of(report.unasked.empty() ? nullptr : &report.unasked.front(), report),
               "written_without_room", object_of(report.unfit ? &*report.unfit : nullptr, report));
  document.say({Statement{"layouts-searched"}
                    .with("divisible", static_cast<double>(report.divisible))
                    .with("fitting", static_cast<double>(report.fitting))
                    .with("simulated", static_cast<double>(report.trials.size()))
                    .with("margin", report.margin)});
  if (report.too_large > 0)
    document.say({Statement{"layouts-too-large"}.with("layouts", static_cast<double>(report.too_large))});
  if (!report.failed.empty()) {
    document.say({Statement{"layouts-failed"}
                      .with("layouts", static_cast<double>(report.failed.size()))
                      .with("fault", report.failed.front().fault)});
  }
  return document;
}

}  // namespace dadsim::report
