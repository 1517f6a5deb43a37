#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/explanation.hpp"
#include "report/paragraph.hpp"
#include "report/played_table.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kMostBounds = 8;
constexpr double kTold = 0.001;  // changes by less than this say nothing

std::string bound_in_words(const step::Bound& bound) {
  if (bound.kind == "compute") return "computing on " + bound.resource;
  return fmt::format("{} of {}", bound.kind, bound.resource);
}

std::string critical_path(const RunResult& run) {
  std::string text;
  double rest = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < run.bounds.size(); ++i) {
    const step::Bound& bound = run.bounds[i];
    if (i >= kMostBounds || bound.share < kTold) {
      rest += bound.seconds;
      ++others;
      continue;
    }
    text += fmt::format("    {}  {}  {}\n", right_aligned(human_percent(bound.share), 7),
                        right_aligned(human_seconds(bound.seconds), 12), bound_in_words(bound));
  }
  if (rest >= kTold * run.step_seconds) {
    text += fmt::format("    {}  {}  {} more\n", right_aligned(human_percent(rest / run.step_seconds), 7),
                        right_aligned(human_seconds(rest), 12), others);
  }
  return text;
}

std::string change_text(double saving) {
  return fmt::format("{}{:.1f} %", saving > 0 ? "−" : "+", 100 * std::abs(saving));
}

std::string sensitivities(const Explanation& explanation, std::size_t run) {
  std::string text;
  std::size_t without_effect = 0;
  for (const WhatIf& what_if : explanation.what_ifs) {
    const double saving = saving_of(explanation, run, what_if);
    if (std::abs(saving) < kTold) {
      ++without_effect;
      continue;
    }
    const Effect& effect = what_if.effects[run];
    const std::string to_target = effect.target_seconds ? human_seconds(*effect.target_seconds) : "–";
    text += wrapped(
        fmt::format("    {}  {}  {}  {}{}", right_aligned(change_text(saving), 9),
                    right_aligned(human_seconds(effect.step_seconds), 12), right_aligned(to_target, 12),
                    what_if.description, what_if.assumption.empty() ? "" : fmt::format(" ({})", what_if.assumption)),
        kTableWidth, 43);
  }
  if (without_effect > 0) text += fmt::format("    changes that make no difference of 0.1 %: {}\n", without_effect);
  return text;
}

std::string advice(const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const std::vector<const WhatIf*> best = most_useful(explanation, index, kMostUseful);
  if (best.empty()) return paragraph("  Nothing that was tried saves a hundredth of its time.", 4);
  std::string text;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const WhatIf& one = *best[i];
    const Effect& effect = one.effects[index];
    const bool target = run.target_reached && effect.target_seconds;
    text += paragraph(
        fmt::format("  {}. {}: {} {} → {}{}.", i + 1, one.description, target ? "time to the target" : "a step",
                    human_seconds(target ? run.target_seconds : run.step_seconds),
                    human_seconds(target ? *effect.target_seconds : effect.step_seconds),
                    one.assumption.empty() ? "" : fmt::format(", {}", one.assumption)),
        5);
  }
  return text;
}

}  // namespace

std::string to_table(const Explanation& explanation) {
  const Result& result = explanation.result;
  std::string text;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const RunResult& run = result.runs[i];
    text += fmt::format("{}{}\n", i == 0 ? "" : "\n", run.spec.label);
    if (run.steps == 0) {
      text += paragraph("  takes no step: the target was met before training", 4);
      continue;
    }
    text += paragraph(fmt::format("  A step takes {}: {} computing, {} waiting for the network or for others{}.",
                                  human_seconds(run.step_seconds), human_seconds(run.compute_seconds),
                                  human_seconds(run.exposed_seconds),
                                  run.target_reached ? fmt::format("; {} steps to the target, {}", run.target_step,
                                                                   human_seconds(run.target_seconds))
                                                     : "; the target is not reached"),
                      4);
    if (run.played) {
      text += paragraph("  " + time_sentence(run), 4);
    } else {
      text += "  On its critical path (share, time per step):\n" + critical_path(run);
    }
    text += "  What if (change of the time to the target or of the step; step; time to the target):\n" +
            sensitivities(explanation, i);
    text += "  Most useful:\n" + advice(explanation, i);
  }
  text += '\n';
  if (explanation.links_left_out > 0) {
    text += paragraph(
        fmt::format("{} less busy links were changed only together with others.", explanation.links_left_out));
  }
  for (const std::string& note : explanation.notes) text += paragraph("Note: " + note + ".");
  text += paragraph(
      "Every line is a simulation of its own: what was learned is timed again with one thing changed and all else as "
      "it "
      "is; nothing is learned again.");
  if (std::ranges::any_of(result.runs, [](const RunResult& run) { return run.played.has_value(); })) {
    text += paragraph(
        "Event-driven runs are the exception: they are played again, and learned again as far as the order of events "
        "is "
        "another; a step is an update of the model.");
  }
  return text;
}

}  // namespace dadsim::report
