#include "report/run/scale_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "report/text/grid.hpp"
#include "report/text/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::string ratio_text(double ratio) { return fmt::format("{:.3g}", ratio); }

/// "1.31 (1.20 … 1.43)"
template <class Text>
std::string with_interval(const estimate::Estimate& estimate, Text&& text) {
  std::string interval = text(estimate.value);
  if (estimate.low == estimate.value && estimate.high == estimate.value) return interval;  // by definition
  if (estimate.low && estimate.high) interval += fmt::format(" ({} … {})", text(*estimate.low), text(*estimate.high));
  return interval;
}

using ScaleRow = std::vector<std::string>;

ScaleRow scale_row(const RunResult& run, const ScaleSetting& setting) {
  const ScaleResult& scale = run.at_scale.value();
  return {run.spec.label, setting.known ? human_count(static_cast<std::int64_t>(setting.known->steps)) : "–",
          scale.relative.ratio ? with_interval(*scale.relative.ratio, ratio_text) : "–",
          human_seconds(run.step_seconds),
          scale.time ? with_interval(scale.time_band ? *scale.time_band : *scale.time,
                                     [](double seconds) { return human_seconds(seconds); })
                     : "–"};
}

bool is_banded(const RunResult& run) { return run.at_scale && run.at_scale->time_band; }

std::string scale_grid(const Result& result, bool verbose) {
  std::vector<ScaleRow> rows{
      {"run", "known steps", "× relative steps (95 %)", "× time per step",
       std::ranges::any_of(result.runs, is_banded) ? "= time to accuracy" : "= time to accuracy (95 %)"}};
  const std::string none = result.scale->known ? "" : "–";  // a column of dashes is left out
  for (const RunResult& run : result.runs) {
    if (!run.at_scale) continue;
    rows.push_back(scale_row(run, *result.scale));
    if (!verbose) continue;
    for (const ScaleAtTarget& at : run.at_scale->further) {
      const std::string ratio = at.relative.ratio ? with_interval(*at.relative.ratio, ratio_text) : "–";
      rows.push_back({fmt::format("  to {:.6g} %", at.target * 100), none, ratio, "", none});
    }
  }
  return grid(std::move(rows));
}

std::string known_sentence(const ScaleSetting& setting) {
  if (setting.known) {
    const estimate::KnownSteps& known = *setting.known;
    std::string text = fmt::format("Known steps: {}", in_words(known.source));
    if (known.fewest < known.most)
      text += fmt::format("; results from {:.0f} to {:.0f} steps", known.fewest, known.most);
    return text + ".";
  }
  return fmt::format(
      "The steps that {} needs are not known here: {}. What is said is the time per step and the relative steps alone, "
      "not how long it takes; steps=\"…\" of <timed-as> is a number of one's own.",
      setting.workload, in_words(setting.why_not.value()));
}

/// What relative steps of a scale study are.
std::string ladder_sentence(const RunResult& run) {
  const FromLadder& ladder = *run.at_scale->ladder;
  std::string text = fmt::format(
      "{}: relative steps of the scale study '{}', {} rungs, {}, {:.1f} decades beyond its largest network; the "
      "interval "
      "is that of a new network of its family",
      run.spec.label, ladder.study, ladder.rungs, ladder.trend ? "with a trend" : "which shows no trend",
      ladder.decades_beyond);
  if (ladder.measured)
    text += fmt::format("; on the network that learned they are {}", with_interval(*ladder.measured, ratio_text));
  return text + ".";
}

std::string relative_sentence(const Result& result) {
  const ScaleSetting& setting = *result.scale;
  if (result.timing_only)
    return "Relative steps: 1 for gradient sharing and for what equals it up to rounding, by definition.";
  std::string text =
      fmt::format("Relative steps: steps to {:.6g} % on {}", result.target_accuracy * 100, result.learned_on);
  if (setting.seeds > 1) {
    text += fmt::format(
        ", mean over {} seeds, divided by those of gradient sharing with the same seeds; the interval is Fieller's",
        setting.seeds);
  } else {
    text += ", divided by those of gradient sharing; one seed has no interval (seeds=\"5\" of <training> gives one)";
  }
  text +=
      ". Where a curve meets its target between two evaluations is interpolated; the interval holds all that lies "
      "between them.";
  return text;
}

/// How far relative steps move from target to target.
std::string spread_sentence(const RunResult& run) {
  const auto range = run.at_scale->range_over_targets();
  if (!range || !(range->first < range->second)) return {};
  return fmt::format("{}: relative steps from {} to {} over {} targets.", run.spec.label, ratio_text(range->first),
                     ratio_text(range->second), 1 + run.at_scale->further.size());
}

std::string charged_sentence(const estimate::Charges& charges) {
  std::string text;
  if (charges.evaluation_every > 0) {
    text += fmt::format("{} per evaluation, every {} steps and at the end", human_seconds(charges.evaluation_seconds),
                        charges.evaluation_every);
  }
  if (charges.start_up_seconds > 0) {
    text += fmt::format("{}{} of start-up", text.empty() ? "" : ", ", human_seconds(charges.start_up_seconds));
  }
  if (text.empty()) return "Evaluation and start-up are not charged.";
  return "Charged beside the product: " + text + ".";
}

}  // namespace

std::optional<std::pair<double, double>> ScaleResult::range_over_targets() const {
  std::vector<double> ratios;
  if (relative.ratio) ratios.push_back(relative.ratio->value);
  for (const ScaleAtTarget& at : further) {
    if (at.relative.ratio) ratios.push_back(at.relative.ratio->value);
  }
  if (ratios.size() < 2) return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax(ratios);
  return std::pair(least, greatest);
}

std::string scale_table(const Result& result, bool verbose) {
  if (!result.scale) return {};
  const ScaleSetting& setting = *result.scale;
  std::string heading = "Steps to accuracy against gradient sharing";
  if (!setting.workload.empty()) {
    heading = fmt::format("Time to accuracy as {}, {} samples per step of all workers", setting.workload,
                          human_count(setting.batch));
    if (setting.known && !setting.known->target.empty()) heading += fmt::format(", to {}", setting.known->target);
  }
  std::string text = paragraph(heading) + scale_grid(result, verbose);
  if (!verbose) return text;
  for (const RunResult& run : result.runs) {
    if (run.at_scale && !run.at_scale->relative.ratio)
      text += paragraph(
          fmt::format("{}: no relative steps: {}.", run.spec.label, in_words(run.at_scale->relative.why_not.value())));
  }
  if (std::ranges::any_of(result.runs, is_banded)) {
    text += paragraph(
        "The interval of the time is that of the relative steps (95 %, where there are seeds for one) and the band of "
        "a step (90 %) together, what each allows added in squares.");
  }
  for (const RunResult& run : result.runs) {
    if (!run.at_scale) continue;
    for (const ScaleAtTarget& at : run.at_scale->further) {
      if (!at.relative.ratio && run.at_scale->relative.ratio)
        text += paragraph(fmt::format("{}: no relative steps to {:.6g} %: {}.", run.spec.label, at.target * 100,
                                      in_words(at.relative.why_not.value())));
    }
    if (const std::string spread = spread_sentence(run); !spread.empty()) text += paragraph(spread);
  }
  for (const RunResult& run : result.runs) {
    if (run.spec.event_driven) {
      text += paragraph(fmt::format(
          "{}: it has no relative steps, since what it learns depends on the cluster that it is simulated on; "
          "the first table has the time that it takes itself.",
          run.spec.label));
    }
  }
  if (!setting.workload.empty()) text += paragraph(known_sentence(setting));
  for (const RunResult& run : result.runs) {
    if (run.at_scale && run.at_scale->ladder) text += paragraph(ladder_sentence(run));
  }
  text += paragraph(relative_sentence(result));
  if (setting.known) text += paragraph(charged_sentence(setting.charges));
  return text;
}

}  // namespace dadsim::report
