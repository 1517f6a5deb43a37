#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/run/result_document.hpp"
#include "report/scale_study/scale_study_report.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::string significant(double value) { return fmt::format("{:.3g}", value); }

/// Returns the name of a size in a sentence: "parameters".
const char* size_in_words(spec::SizeKind kind) {
  using enum spec::SizeKind;
  return kind == parameters ? "parameters" : kind == rows_per_width ? "rows ÷ width" : "batch ÷ critical batch";
}

std::string size_text(spec::SizeKind kind, double size) {
  if (!std::isfinite(size)) return "–";
  return kind == spec::SizeKind::parameters ? human_count(std::llround(size)) : significant(size);
}

std::string mean_steps(const estimate::StepsToTarget& steps) {
  double sum = 0;
  for (const auto& one : steps) {
    if (!one) return "–";
    sum += one->between;
  }
  return steps.empty() ? "–" : fmt::format("{:.0f}", sum / static_cast<double>(steps.size()));
}

std::string seen_text(const StudiedRatio& at) {
  if (at.ratio) return significant(at.ratio->value);
  return at.more_than ? fmt::format("> {}", significant(*at.more_than)) : "–";
}

std::vector<double> steps_of(const estimate::StepsToTarget& steps) {
  std::vector<double> by_seed;
  for (const auto& one : steps) by_seed.push_back(one ? one->between : std::numeric_limits<double>::quiet_NaN());
  return by_seed;
}

DocumentTable object_of(const StudiedSize& size) {
  return object_with("parameters", size.parameters, "rows_per_width", size.rows_per_width, "batch", size.batch,
                     "critical_batch", size.critical_batch);
}

DocumentValue object_of(const std::optional<estimate::LadderPrediction>& prediction) {
  if (!prediction) return {};
  return object_with("value", prediction->ratio, "low", prediction->low, "high", prediction->high, "decades_beyond",
                     prediction->distance);
}

DocumentTable rungs_of(const ScaleStudyReport& report) {
  DocumentTable rungs;
  for (std::size_t i = 0; i < report.rungs.size(); ++i) {
    const StudiedRung& rung = report.rungs[i];
    std::map<std::string, std::string> changes;
    std::string name;
    for (const auto& [path, value] : rung.changes) {
      changes[path] = value;
      name += (name.empty() ? "" : " ") + value;
    }
    TableRow row = rungs.add_row();
    row.add("changes", "rung", changes, Unit::plain, name + (rung.held_out ? " (left out)" : ""))
        .add("learned_on", rung.learned_on, "size", object_of(rung.size), "held_out", rung.held_out);
    for (const spec::SizeKind kind : report.against) row.say(size_in_words(kind), size_text(kind, rung.size.of(kind)));
    row.add("gradient_sharing_steps", "gradient sharing", steps_of(rung.gradient_sharing), Unit::plain,
            mean_steps(rung.gradient_sharing));
    for (const StudiedRun& run : report.runs) row.say("× " + run.label, seen_text(run.rungs[i]));
    row.page("network", rung.learned_on);
    for (const spec::SizeKind kind : {spec::SizeKind::parameters, spec::SizeKind::rows_per_width})
      if (std::ranges::find(report.against, kind) == report.against.end())
        row.page(size_in_words(kind), size_text(kind, rung.size.of(kind)));
    row.page("batch", human_count(rung.size.batch))
        .page("critical batch", size_text(spec::SizeKind::parameters, rung.size.critical_batch));
  }
  return rungs;
}

/// Returns "1.31 (1.20 … 1.43)".
std::string prediction_in_words(const estimate::LadderPrediction& prediction) {
  return fmt::format("{} ({} … {})", significant(prediction.ratio), significant(prediction.low),
                     significant(prediction.high));
}

/// Returns "+8 % per decade of parameters" or "none shown".
std::string trend_in_words(const StudiedRun& run, const std::vector<spec::SizeKind>& against) {
  if (run.as_many_by_definition) return "1 by definition";
  if (!run.fit) return "no fit";
  std::string text;
  for (std::size_t i = 0; i < against.size(); ++i) {
    const estimate::Slope& slope = run.fit->slopes()[i];
    if (!slope.shown) continue;
    const double change = 100 * std::expm1(slope.per_decade);
    text += fmt::format("{}{:+.0f} % per decade of {}", text.empty() ? "" : ", ", change, size_in_words(against[i]));
  }
  return text.empty() ? "none shown" : text;
}

/// Returns the predictions of held-out sizes, each with the observed value.
std::string tested_text(const StudiedRun& run) {
  std::string text;
  for (const StudiedRatio& at : run.rungs) {
    if (!at.predicted) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}{}", prediction_in_words(*at.predicted), seen_text(at),
                        at.held ? (*at.held ? "" : ", missed") : ", undecided");
  }
  return text.empty() ? "–" : text;
}

DocumentTable ratios_of(const StudiedRun& run) {
  using Ratio = StudiedRatio;
  return list_of(
      run.rungs, "steps", [](const Ratio& at) { return steps_of(at.steps); }, "relative_steps",
      [](const Ratio& at) { return at.ratio ? DocumentValue(report::object_of(*at.ratio)) : DocumentValue(); }, "why_not",
      &Ratio::why_not, "more_than", &Ratio::more_than, "seed_variance", &Ratio::seed_variance, "predicted",
      [](const Ratio& at) { return object_of(at.predicted); }, "held", &Ratio::held);
}

/// Returns the fit along the first kind of size, from the smallest rung to the largest or to the workload. Other kinds
/// have the rungs' average size.
std::vector<std::pair<double, estimate::LadderPrediction>> fit_along(const estimate::Ladder& fit,
                                                                     const ScaleStudyReport& report) {
  constexpr int kPoints = 24;
  std::vector<double> size(report.against.size(), 0.0);
  double from = std::numeric_limits<double>::infinity();
  double to = -from;
  for (const estimate::Rung& rung : fit.rungs()) {
    from = std::min(from, rung.size.front());
    to = std::max(to, rung.size.front());
    for (std::size_t i = 0; i < size.size(); ++i) size[i] += rung.size[i] / static_cast<double>(fit.rungs().size());
  }
  const double workload = std::log10(report.workload_size.of(report.against.front()));
  if (std::isfinite(workload)) {
    from = std::min(from, workload);
    to = std::max(to, workload);
  }
  std::vector<std::pair<double, estimate::LadderPrediction>> along;
  for (int i = 0; i <= kPoints; ++i) {
    size.front() = from + (to - from) * i / kPoints;
    along.emplace_back(std::pow(10, size.front()), fit.at(size, report.level));
  }
  return along;
}

DocumentValue fit_of(const StudiedRun& run, const ScaleStudyReport& report) {
  DocumentTable slopes, along;
  if (!run.fit) return {};
  for (std::size_t i = 0; i < report.against.size(); ++i) {
    const estimate::Slope& slope = run.fit->slopes()[i];
    slopes.add_row().add("against", to_string(report.against[i]), "per_decade", slope.per_decade, "standard_error",
                         slope.error, "chance", slope.chance, "shown", slope.shown);
  }
  for (const auto& [size, at] : fit_along(*run.fit, report))
    along.add_row().add("size", size, "value", at.ratio, "low", at.low, "high", at.high);
  return object_with("rungs", run.fit->rungs().size(), "trend", run.fit->shows_trend(), "slopes", slopes, "spread",
                     run.fit->spread(), "along", along);
}

DocumentTable runs_of(const ScaleStudyReport& report) {
  DocumentTable runs;
  for (const StudiedRun& run : report.runs)
    runs.add_row()
        .add("label", "run", run.label, Unit::plain)
        .add("algorithm", run.algorithm, "set", run.set, "as_many_by_definition", run.as_many_by_definition)
        .add("fit", "trend", fit_of(run, report), Unit::plain, trend_in_words(run, report.against))
        .add("rungs", "predicted: seen", ratios_of(run), Unit::plain, tested_text(run))
        .add("why_no_fit", run.why_no_fit)
        .add("workload", report.workload, object_of(run.workload), Unit::plain,
             run.workload ? prediction_in_words(*run.workload) : "–")
        .add("why_no_workload", run.why_no_workload);
  return runs;
}

/// Returns "the largest network, left out", or a plural of that.
std::string left_out_in_words(const ScaleStudyReport& report) {
  const auto left_out = std::ranges::count_if(report.rungs, &StudiedRung::held_out);
  return left_out == 1 ? "the largest network, left out" : fmt::format("the {} largest networks, left out", left_out);
}

}  // namespace

double StudiedSize::of(spec::SizeKind kind) const {
  if (kind == spec::SizeKind::parameters) return parameters;
  return kind == spec::SizeKind::rows_per_width ? rows_per_width : static_cast<double>(batch) / critical_batch;
}

HeldOutCount held_out_of(const ScaleStudyReport& report) {
  HeldOutCount count;
  for (const StudiedRun& run : report.runs) {
    for (const StudiedRatio& at : run.rungs) {
      if (at.held) {
        ++count.cases;
        count.held += *at.held ? 1 : 0;
      } else if (at.predicted) {
        ++count.undecided;
      }
    }
  }
  return count;
}

namespace {

/// Returns the answer in short, without the numbers in the table of runs.
std::string verdict_of(const ScaleStudyReport& report, const HeldOutCount& count) {
  std::string text;
  if (count.cases > 0) {
    text = fmt::format("{} of {} predictions of {}, lie in their {:.3g} % intervals", count.held, count.cases,
                       left_out_in_words(report), 100 * report.level);
    if (count.undecided > 0) text += fmt::format(" ({} more cannot be judged)", count.undecided);
    text += ". ";
  }
  std::vector<std::string> trends;
  std::size_t fitted = 0;
  for (const StudiedRun& run : report.runs) {
    if (!run.fit) continue;
    ++fitted;
    if (run.fit->shows_trend()) trends.push_back(run.label);
  }
  if (fitted == 0) return text + "No run could be fitted.";
  text += trends.empty() ? fmt::format("No trend with size is shown for any of {} runs.", fitted)
                         : fmt::format("A trend with size is shown for {} of {} runs: {}.", trends.size(), fitted,
                                       fmt::join(trends, ", "));
  const auto beyond = std::ranges::find_if(
      report.runs, [](const StudiedRun& run) { return run.workload && !run.as_many_by_definition; });
  if (beyond != report.runs.end())
    text +=
        fmt::format(" {} is {:.1f} decades beyond the largest network.", report.workload, beyond->workload->distance);
  return text;
}

/// Returns a chart of a run's relative steps against the first kind of size: the fit with its interval, and the learned
/// values.
Chart ladder_of(const StudiedRun& run, const ScaleStudyReport& report) {
  const spec::SizeKind kind = report.against.front();
  Chart chart{
      .name = "ladder-" + run.label,
      .title = "Relative steps against size: " + run.label,
      .x = {size_in_words(kind), kind == spec::SizeKind::parameters ? Unit::count : Unit::plain},
      .y = {"relative steps"},
      .above = fmt::format("Marks are means over the seeds; the line is the fit of all rungs, and the band holds "
                           "{:.3g} of 100 new networks of this family. A workload is not in this family: no band "
                           "covers its different layers, data and schedule.",
                           100 * report.level),
      .choice = "Run"};
  ChartSeries fit{.label = "fit"}, learned{.label = "learned", .marks_only = true},
      left_out{.label = "left out", .marks_only = true}, workload{.label = report.workload, .marks_only = true};
  if (run.fit)
    for (const auto& [size, at] : fit_along(*run.fit, report))
      fit.points.push_back({.x = size, .y = at.ratio, .low = at.low, .high = at.high});
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const double size = report.rungs[i].size.of(kind);
    const std::optional<estimate::Estimate>& seen = run.rungs[i].ratio;
    if (seen && std::isfinite(size))
      (report.rungs[i].held_out ? left_out : learned)
          .points.push_back({.x = size, .y = seen->value, .low = seen->low, .high = seen->high});
  }
  if (const double size = report.workload_size.of(kind); run.workload && std::isfinite(size))
    workload.points.push_back(
        {.x = size, .y = run.workload->ratio, .low = run.workload->low, .high = run.workload->high});
  for (ChartSeries* series : {&fit, &learned, &left_out, &workload})
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  chart.x.logarithmic = chart.y.logarithmic = true;
  return chart;
}

/// Returns the reasons for missing numbers of a run. `verbose`: for each rung, and also every slope.
std::string notes_on(const StudiedRun& run, const ScaleStudyReport& report, bool verbose) {
  std::string text;
  if (run.why_no_fit) text += paragraph(fmt::format("{}: no fit: {}.", run.label, in_words(*run.why_no_fit)));
  if (run.why_no_workload && run.why_no_workload != run.why_no_fit)
    text += paragraph(
        fmt::format("{}: no prediction for {}: {}.", run.label, report.workload, in_words(*run.why_no_workload)));
  if (!verbose) return text;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    if (run.rungs[i].why_not)
      text += paragraph(fmt::format("{}, {} parameters: no relative steps: {}.", run.label,
                                    human_count(std::llround(report.rungs[i].size.parameters)),
                                    in_words(*run.rungs[i].why_not)));
  }
  if (!run.fit) return text;
  for (std::size_t i = 0; i < report.against.size(); ++i) {
    const estimate::Slope& slope = run.fit->slopes()[i];
    text += paragraph(
        fmt::format("{}: ln(relative steps) changes by {:+.3f} ± {:.3f} per decade of {}; chance alone gives as much "
                    "in {:.2g} % of families.",
                    run.label, slope.per_decade, slope.error, size_in_words(report.against[i]), 100 * slope.chance));
  }
  return text;
}

}  // namespace

Document document_of(const ScaleStudyReport& report) {
  Document document{report, {}};
  document.command = "dadsim scale-study";
  document.setting = fmt::format("Relative steps to {:.6g} % against {}", report.target_accuracy * 100,
                                 size_in_words(report.against.front()));
  document.facts = {{"Learned", fmt::format("{} networks, {} seeds each", report.rungs.size(), report.seeds)},
                    {"Target", fmt::format("{:.6g} %", report.target_accuracy * 100)}};
  const HeldOutCount count = held_out_of(report);
  document.lead = {verdict_of(report, count)};
  document.add("verdict", document.lead.front());
  for (const StudiedRun& run : report.runs)
    if (!run.as_many_by_definition) document.charts.push_back(ladder_of(run, report));
  std::erase_if(document.charts, [](const Chart& chart) { return chart.series.empty(); });
  std::vector<std::string> against;
  for (const spec::SizeKind kind : report.against) against.emplace_back(to_string(kind));
  document.add("against", against, "level", report.level, "target_accuracy", report.target_accuracy, "seeds",
               report.seeds, "held_out.cases", count.cases, "held_out.held", count.held, "held_out.undecided",
               count.undecided);
  document.parts.push_back({.name = "runs", .shown = Shown::always, .what = runs_of(report), .text = "\n"});
  document.print(paragraph(fmt::format("Relative steps to {:.6g} %, mean over {} seeds, against size",
                                       report.target_accuracy * 100, report.seeds)));
  document.parts.push_back({.name = "rungs", .shown = Shown::always, .what = rungs_of(report)});
  for (const StudiedRun& run : report.runs) {
    document.print(notes_on(run, report, false), Shown::brief);
    document.print(notes_on(run, report, true), Shown::verbose);
  }
  document.add("workload", or_null(!report.workload.empty(),
                                   object_with("name", report.workload, "size", object_of(report.workload_size))));
  std::string assumed;
  for (const std::string& assumption : in_words(report.assumptions)) assumed += paragraph("Assumed: " + assumption);
  document.rests_on(assumed);
  return document;
}

}  // namespace dadsim::report
