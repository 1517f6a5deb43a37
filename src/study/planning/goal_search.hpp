#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/plan/plan_report.hpp"

namespace dadsim::study {

/// Evaluates one full timing run: run `label` of the scenario with "path=value" set.
using Evaluate = std::function<report::Trial(const std::vector<std::string>& assignments, const std::string& label)>;

/// Finds, for every run in question and every choice of the searched values, the most preferred number of the first
/// range that meets the goal.
///
/// The range is divided into numbers of three digits. kTriedOfTheRange of them are tried first, including the ends and
/// evenly spread (in the logarithm, if it begins above 0), since more may mean slower. If one of two adjacent tried
/// numbers meets the goal and the other does not, the interval between them is bisected. The answer meets the goal and
/// its neighbour does not, each by its own timing run.
///
/// If the goal is missed again beyond the answer, that is reported, and also the numbers from which it may be met or is
/// surely met, given the uncertainty of seeds. A stretch between two adjacent tried numbers that contains neither is
/// not seen. Answers that meet the goal come first, in the order of report::is_better(). `progress` gets the number of
/// finished choices.
std::vector<report::GoalAnswer> search_goal(
    const spec::GoalSpec& goal, const std::vector<std::string>& labels, const Evaluate& evaluate,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// Returns every choice of the searched values: of all changes except the first range, in the order of the search.
std::vector<std::vector<report::Change>> choices_of(const spec::GoalSpec& goal);

/// Returns the numbers of a range, ascending: whole ones, or those of three digits, including its ends.
std::vector<double> numbers_of(const spec::VariedPath& range);

/// Most choices of all searched values.
inline constexpr std::size_t kMostChoices = 10'000;
/// Returns the number of choices in the product of the lists and of kTriedOfARange numbers of each further range.
std::size_t count_choices(const spec::GoalSpec& goal);
inline constexpr std::size_t kTriedOfARange = 7;
inline constexpr std::size_t kTriedOfTheRange = 13;

}  // namespace dadsim::study
