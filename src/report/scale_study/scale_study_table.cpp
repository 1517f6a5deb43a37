#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/scale_study/scale_study_report.hpp"
#include "report/text/grid.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Cells = std::vector<std::string>;

std::string three_digits(double value) { return fmt::format("{:.3g}", value); }

/// "parameters" as they are read in a sentence.
const char* size_in_words(spec::SizeKind kind) {
  switch (kind) {
    case spec::SizeKind::parameters:
      return "parameters";
    case spec::SizeKind::rows_per_width:
      return "rows ÷ width";
    case spec::SizeKind::batch_per_critical:
      return "batch ÷ critical batch";
  }
  return "";
}

std::string size_text(spec::SizeKind kind, double size) {
  if (!std::isfinite(size)) return "–";
  return kind == spec::SizeKind::parameters ? human_count(std::llround(size)) : three_digits(size);
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
  if (at.ratio) return three_digits(at.ratio->value);
  return at.more_than ? fmt::format("> {}", three_digits(*at.more_than)) : "–";
}

std::string grid_of_rungs(const ScaleStudyReport& report) {
  std::vector<Cells> rows;
  Cells head{"rung"};
  for (const spec::SizeKind kind : report.against) head.emplace_back(size_in_words(kind));
  head.emplace_back("gradient sharing");
  for (const StudiedRun& run : report.runs) head.push_back("× " + run.label);
  rows.push_back(head);
  for (std::size_t i = 0; i < report.rungs.size(); ++i) {
    const StudiedRung& rung = report.rungs[i];
    std::string name;
    for (const auto& [path, value] : rung.changes) name += (name.empty() ? "" : " ") + value;
    Cells row{fmt::format("{}{}", name, rung.held_out ? " (left out)" : "")};
    for (const spec::SizeKind kind : report.against) row.push_back(size_text(kind, rung.size.of(kind)));
    row.push_back(mean_steps(rung.gradient_sharing));
    for (const StudiedRun& run : report.runs) row.push_back(seen_text(run.rungs[i]));
    rows.push_back(std::move(row));
  }
  std::vector<std::size_t> columns(head.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  return grid(rows, columns);
}

/// What was predicted of the sizes that were left out, and what was seen.
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

std::string grid_of_runs(const ScaleStudyReport& report) {
  std::vector<Cells> rows{{"run", "trend", "predicted: seen", report.workload.empty() ? "" : report.workload}};
  for (const StudiedRun& run : report.runs) {
    rows.push_back({run.label, trend_in_words(run, report.against), tested_text(run),
                    run.workload ? prediction_in_words(*run.workload) : "–"});
  }
  return grid(rows, report.workload.empty() ? std::vector<std::size_t>{0, 1, 2} : std::vector<std::size_t>{0, 1, 2, 3});
}

/// "the largest size, left out", or several of them.
std::string left_out_in_words(const ScaleStudyReport& report) {
  const auto left_out = std::ranges::count_if(report.rungs, &StudiedRung::held_out);
  return left_out == 1 ? "the largest network, left out" : fmt::format("the {} largest networks, left out", left_out);
}

}  // namespace

double StudiedSize::of(spec::SizeKind kind) const {
  switch (kind) {
    case spec::SizeKind::parameters:
      return parameters;
    case spec::SizeKind::rows_per_width:
      return rows_per_width;
    case spec::SizeKind::batch_per_critical:
      return static_cast<double>(batch) / critical_batch;
  }
  return std::numeric_limits<double>::quiet_NaN();
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

std::string prediction_in_words(const estimate::LadderPrediction& prediction) {
  return fmt::format("{} ({} … {})", three_digits(prediction.ratio), three_digits(prediction.low),
                     three_digits(prediction.high));
}

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

std::string verdict(const ScaleStudyReport& report) {
  std::string text;
  const HeldOutCount count = held_out_of(report);
  if (count.cases > 0) {
    text = fmt::format("{} of {} predictions of {}, lie in their {:.3g} % intervals", count.held, count.cases,
                       left_out_in_words(report), 100 * report.level);
    if (count.undecided > 0) text += fmt::format(" ({} more cannot be told)", count.undecided);
    text += ". ";
  }
  std::string no_trend;
  for (const StudiedRun& run : report.runs) {
    if (run.fit && !run.fit->shows_trend()) no_trend += (no_trend.empty() ? "" : ", ") + run.label;
    if (!run.fit || !run.fit->shows_trend()) continue;
    text += fmt::format("{}: {}. ", run.label, trend_in_words(run, report.against));
  }
  if (!no_trend.empty()) text += fmt::format("No trend can be shown for {}. ", no_trend);
  std::string expected;
  for (const StudiedRun& run : report.runs) {
    if (run.workload && !run.as_many_by_definition)
      expected += fmt::format("{}{} {}", expected.empty() ? "" : ", ", run.label, prediction_in_words(*run.workload));
  }
  if (!expected.empty()) {
    const auto beyond = std::ranges::find_if(
        report.runs, [](const StudiedRun& run) { return run.workload && !run.as_many_by_definition; });
    text += fmt::format("Expected of {}, {:.1f} decades beyond the largest network: {}. ", report.workload,
                        beyond->workload->distance, expected);
  }
  if (text.empty()) return "Nothing could be fitted.";
  text.pop_back();
  return text;
}

Summary summary_of(const ScaleStudyReport& report, bool verbose) {
  Summary summary;
  summary.answer = paragraph(verdict(report));
  std::string& text = summary.body;
  text = paragraph(fmt::format("Relative steps to {:.6g} %, mean over {} seeds, against size",
                               report.target_accuracy * 100, report.seeds)) +
         grid_of_rungs(report) + '\n' + grid_of_runs(report);
  for (const StudiedRun& run : report.runs) {
    if (run.why_no_fit) text += paragraph(fmt::format("{}: no fit: {}.", run.label, in_words(*run.why_no_fit)));
    if (run.why_no_workload && run.why_no_workload != run.why_no_fit)
      text += paragraph(
          fmt::format("{}: nothing is said of {}: {}.", run.label, report.workload, in_words(*run.why_no_workload)));
    if (!verbose) continue;
    for (std::size_t i = 0; i < run.rungs.size(); ++i) {
      if (run.rungs[i].why_not)
        text += paragraph(fmt::format("{}, {} parameters: no relative steps: {}.", run.label,
                                      human_count(std::llround(report.rungs[i].size.parameters)),
                                      in_words(*run.rungs[i].why_not)));
    }
    if (!run.fit) continue;
    for (std::size_t i = 0; i < report.against.size(); ++i) {
      const estimate::Slope& slope = run.fit->slopes()[i];
      text += paragraph(
          fmt::format("{}: ln(relative steps) moves by {:+.3f} ± {:.3f} per decade of {}; by chance alone "
                      "as much in {:.2g} % of families.",
                      run.label, slope.per_decade, slope.error, size_in_words(report.against[i]), 100 * slope.chance));
    }
  }
  for (const std::string& assumption : in_words(report.assumptions))
    summary.background += paragraph("Assumed: " + assumption);
  return summary;
}

}  // namespace dadsim::report
