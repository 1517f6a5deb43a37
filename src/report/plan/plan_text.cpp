#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "report/plan/plan_report.hpp"
#include "report/run/cost_sentence.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

bool nothing_was_timed(const PlanReport& report) {
  return report.timing_runs == 0 &&
         std::ranges::none_of(report.answers, [](const GoalAnswer& one) { return one.trial.reached; });
}

}  // namespace

std::string goal_in_words(const PlanReport& report) {
  const spec::GoalSpec& goal = report.goal;
  std::string text = fmt::format("reach {:.6g} %", 100 * report.target_accuracy);
  if (goal.seconds) text += fmt::format(" within {}", human_seconds(*goal.seconds));
  if (goal.money) text += ", for at most " + money_in_words(*goal.money, report.currency);
  if (goal.joules) text += fmt::format(", with at most {}", human_energy(*goal.joules));
  if (goal.carbon) text += ", for at most " + carbon_in_words(*goal.carbon);
  return text;
}

std::string changes_in_words(const GoalAnswer& answer) {
  std::string text;
  for (const Change& change : answer.choices) text += (text.empty() ? "" : ", ") + change.assignment();
  if (answer.answer) text += (text.empty() ? "" : ", ") + answer.answer->assignment();
  return text.empty() ? "as it is" : text;
}

std::string trial_in_words(const PlanReport& report, const Trial& trial) {
  if (!trial.reached) return fmt::format("{} at best", human_percent(trial.accuracy));
  std::string text = human_seconds(trial.seconds);
  if (!report.currency.empty()) text += ", " + costs_in_words(trial.costs, report.currency);
  if (trial.lines_per_month)
    text += fmt::format(", lines at {} a month", money_in_words(*trial.lines_per_month, report.currency));
  return text;
}

namespace {

/// "9.0Mbps" of "9.02Mbps": as many digits as seeds leave.
std::string rounded(const std::string& value) {
  constexpr int kDigits = 2;
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(value, &end);
  } catch (const std::exception&) {
    return value;  // no number
  }
  if (number == 0) return value;
  const int after = std::max(0, kDigits - 1 - static_cast<int>(std::floor(std::log10(std::abs(number)))));
  return fmt::format("{:.{}f}{}", number, after, value.substr(end));
}

/// Whether seeds leave a range of numbers and not one.
bool leaves_a_range(const GoalAnswer& answer) {
  return answer.answer && answer.met && answer.trial.scatter && answer.may && answer.safe &&
         *answer.may != *answer.safe;
}

}  // namespace

std::string band_in_words(const GoalAnswer& answer) {
  if (!answer.answer || !answer.met || !answer.trial.scatter) return {};
  const std::string why = answer.trial.seeds > 1
                              ? fmt::format("over {} seeds", answer.trial.seeds)
                              : fmt::format("one seed, {:.0f} % scatter assumed", 100 * estimate::kSeedScatter);
  if (!answer.safe && !answer.may) return {};
  if (!answer.safe)
    return fmt::format("{} or more ({}), and no number of the range is surely enough", rounded(*answer.may), why);
  if (*answer.may == *answer.safe) return fmt::format("{} ({})", *answer.safe, why);
  return fmt::format("{} to {} ({})", rounded(*answer.may), rounded(*answer.safe), why);
}

std::string misses_in_words(const GoalAnswer& answer) {
  std::string text;
  for (const Stretch& stretch : answer.misses_again) {
    text += text.empty() ? "it is missed again " : " and ";
    if (stretch.from == stretch.to) {
      text += "at " + stretch.from;
    } else {
      text += fmt::format("from {} to {}", stretch.from, stretch.to);
    }
    if (stretch.to_the_end) text += ", the end of the range";
  }
  return text;
}

std::string verdict(const PlanReport& report) {
  const GoalAnswer& best = report.answers.front();
  if (nothing_was_timed(report)) {
    return fmt::format(
        "The target is never reached: {} came nearest with {}{}. Learning decides that, so nothing was timed: no line "
        "and no device helps; longer training, another optimizer or a lower target may.",
        best.run, human_percent(best.trial.accuracy),
        best.trial.seeds > 1 ? fmt::format(" ({} of {} seeds miss it)", best.trial.seeds_missed, best.trial.seeds)
                             : "");
  }
  if (!best.met) {
    const std::string nearest =
        fmt::format("Out of reach: the nearest is {} with {}", best.run, changes_in_words(best));
    if (!best.trial.reached) return fmt::format("{}, which {}.", nearest, margin_in_words(report, best.trial));
    return fmt::format("{}: {}, which {}.", nearest, trial_in_words(report, best.trial),
                       margin_in_words(report, best.trial));
  }
  const std::string band = band_in_words(best);
  const std::string takes = trial_in_words(report, best.trial);
  std::string text;
  if (leaves_a_range(best)) {
    text = fmt::format("{} needs about {} of {}: {}. As simulated {} is the least that is enough", best.run,
                       rounded(best.answer->value), best.answer->path, band, best.answer->value);
    if (!best.choices.empty()) text += " (" + changes_in_words(best) + ")";
    text += fmt::format(": {}.", takes);
  } else {
    text = fmt::format("{} with {}: {}", best.run, changes_in_words(best), takes);
    if (best.neighbour) {
      text += fmt::format("; {} {}, {} is enough", best.neighbour->value,
                          margin_in_words(report, *best.neighbour_trial), best.answer->value);
    }
    text += ".";
    if (!band.empty()) text += fmt::format(" Seeds leave it at {}.", band);
  }
  if (best.answer && best.trial.seeds == 1)
    text += band.empty() ? " The scatter of seeds is not measured (<training seeds=\"5\"> measures it)."
                         : " <training seeds=\"5\"> measures the scatter.";
  if (const std::string again = misses_in_words(best); !again.empty()) {
    text += fmt::format(" Beyond {} {}.", best.answer->value, again);
  }
  return text;
}

}  // namespace dadsim::report
