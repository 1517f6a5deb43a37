#include <fmt/format.h>

#include <algorithm>

#include "report/cost_sentence.hpp"
#include "report/paragraph.hpp"
#include "report/plan_report.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kMostRows = 40;

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
  return text;
}

std::string neighbour_in_words(const PlanReport& report, const GoalAnswer& answer) {
  if (!answer.neighbour) return answer.answer && answer.met ? "the best number that is allowed" : "";
  return fmt::format("{} {}", answer.neighbour->value, margin_in_words(report, *answer.neighbour_trial));
}

std::string verdict_of(const PlanReport& report) {
  const GoalAnswer& best = report.answers.front();
  if (!best.met) {
    return fmt::format("Out of reach: the nearest is {} with {}: {}, which {}.", best.run, changes_in_words(best),
                       trial_in_words(report, best.trial), margin_in_words(report, best.trial));
  }
  std::string text =
      fmt::format("{} with {}: {}", best.run, changes_in_words(best), trial_in_words(report, best.trial));
  if (best.neighbour) {
    text += fmt::format("; {} {}, {} is enough", best.neighbour->value, margin_in_words(report, *best.neighbour_trial),
                        best.answer->value);
  }
  return text + ".";
}

}  // namespace

std::string to_table(const PlanReport& report) {
  std::string text = paragraph(fmt::format("Goal: {}.", goal_in_words(report))) + '\n';
  std::size_t label_width = 3;
  std::size_t change_width = 7;
  const std::size_t rows = std::min(report.answers.size(), kMostRows);
  for (std::size_t i = 0; i < rows; ++i) {
    label_width = std::max(label_width, display_width(report.answers[i].run));
    change_width = std::max(change_width, display_width(changes_in_words(report.answers[i])));
  }
  label_width = std::min<std::size_t>(label_width, 28);
  change_width = std::min<std::size_t>(change_width, 44);
  text += fmt::format("  {}  {}  {}\n", left_aligned("run", label_width), left_aligned("changes", change_width),
                      "to the target; the next number");
  for (std::size_t i = 0; i < rows; ++i) {
    const GoalAnswer& answer = report.answers[i];
    const std::string neighbour = neighbour_in_words(report, answer);
    text +=
        wrapped(fmt::format("{} {}  {}  {}{}", answer.met ? "✓" : "✗", left_aligned(answer.run, label_width),
                            left_aligned(changes_in_words(answer), change_width), trial_in_words(report, answer.trial),
                            answer.met ? (neighbour.empty() ? "" : "; " + neighbour)
                                       : "; " + margin_in_words(report, answer.trial)),
                kTableWidth, 6 + label_width + change_width);
  }
  if (rows < report.answers.size()) text += fmt::format("  … and {} more\n", report.answers.size() - rows);
  text += '\n';
  for (const std::string& assumption : report.assumptions) text += paragraph("Assumed: " + assumption);
  text +=
      paragraph(fmt::format("{} full timing runs, {} learned runs. A range is taken to be monotone: where one number "
                            "meets the goal, all less preferred ones do.",
                            report.timing_runs, report.learned_runs));
  return text + '\n' + paragraph(verdict_of(report));
}

}  // namespace dadsim::report
