#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "report/plan/plan_report.hpp"
#include "report/run/table.hpp"
#include "report/text/paragraph.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kMostRows = 40;

std::string changes_in_words(const GoalAnswer& answer) { return words::assignments_in_words(assignments_of(answer)); }

const char* mark_of(GoalStanding standing) {
  switch (standing) {
    case GoalStanding::met:
      return "✓";
    case GoalStanding::likely:
      return "~";
    case GoalStanding::open:
      return "?";
    case GoalStanding::missed:
      return "✗";
  }
  throw std::logic_error("unknown standing");
}

/// What stands in the last column: what it takes, and what there is to say of that.
std::string row_in_words(const PlanReport& report, const GoalAnswer& answer) {
  std::string text = in_words(takes_of(report, answer.trial));
  for (const std::string& remark : in_words(remarks_on(report, answer))) text += "; " + remark;
  return text;
}

}  // namespace

Summary summary_of(const PlanReport& report, bool verbose) {
  Summary summary;
  summary.answer = paragraph(verdict(report));
  std::string& text = summary.body;
  text =
      paragraph(fmt::format("Goal: {}. By the band of what it takes: ✓ met, ~ likely met, ? cannot be said, ✗ missed.",
                            in_words(goal_of(report)))) +
      '\n';
  std::size_t label_width = 3;
  std::size_t change_width = 7;
  const std::size_t rows = std::min(report.answers.size(), kMostRows);
  for (std::size_t i = 0; i < rows; ++i) {
    label_width = std::max(label_width, display_width(report.answers[i].run));
    change_width = std::max(change_width, display_width(changes_in_words(report.answers[i])));
  }
  const std::size_t widest = table_width() * 2 / 3;
  // Where a label or what is changed is long, what it takes stands below: nothing of them is cut.
  const bool below = label_width + change_width > widest;
  text += below ? fmt::format("  {}\n", "run, changes: to the goal; the next number")
                : fmt::format("  {}  {}  {}\n", left_aligned("run", label_width), left_aligned("changes", change_width),
                              "to the goal; the next number");
  for (std::size_t i = 0; i < rows; ++i) {
    const GoalAnswer& answer = report.answers[i];
    const char* mark = mark_of(standing_of(report.goal, answer.trial));
    const std::string changes = changes_in_words(answer);
    text += below ? wrapped(fmt::format("{} {}, {}: {}", mark, answer.run, changes, row_in_words(report, answer)),
                            table_width(), 4)
                  : wrapped(fmt::format("{} {}  {}  {}", mark, left_aligned(answer.run, label_width),
                                        left_aligned(changes, change_width), row_in_words(report, answer)),
                            table_width(), 6 + label_width + change_width);
  }
  if (rows < report.answers.size()) text += fmt::format("  … and {} more\n", report.answers.size() - rows);
  text += '\n';
  if (const GoalAnswer& best = report.answers.front(); best.trial.layout) {
    std::vector<std::string> set = assignments_of(best);
    std::ranges::copy(assignments_of(*best.trial.layout), std::back_inserter(set));
    text += paragraph(fmt::format("To have it: --set {}", fmt::join(set, " --set ")));
  }
  std::string runs = fmt::format("{} full timing runs, {} learned runs.", report.timing_runs, report.learned_runs);
  if (std::ranges::any_of(report.answers, [](const GoalAnswer& answer) { return answer.tried.size() > 1; }))
    runs +=
        " Between two neighbouring numbers that were tried of a range, the goal is taken to be met from one on, if at "
        "all.";
  text += paragraph(runs);
  summary.background = background_of(report, verbose);
  return summary;
}

std::string to_table(const PlanReport& report) { return summary_of(report, true).all(); }

}  // namespace dadsim::report
