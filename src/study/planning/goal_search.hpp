#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/plan/plan_report.hpp"

namespace dadsim::study {

/// Evaluates a trial: times run `label` of the scenario with each "path=value" set.
using Evaluate = std::function<report::Trial(const std::vector<std::string>& assignments, const std::string& label)>;

/// Finds the most preferred number of the first range that meets the goal, for every run in question and every choice
/// of the other searched values.
///
/// The range is divided into numbers of three digits. First, kTriedOfTheRange of them are tried, including both ends
/// and evenly spread (logarithmically if the range begins above 0), because more may mean slower. If one of two
/// adjacent tried numbers meets the goal and the other does not, the interval between them is bisected. The answer
/// meets the goal and its neighbour does not, each by its own timing run.
///
/// If numbers beyond the answer miss the goal again, this is reported, with the numbers from which the goal may be met
/// or is surely met, given the uncertainty of seeds. A range that lies between two adjacent tried numbers is not found.
/// Answers that meet the goal come first, in the order of report::is_better(). `progress` gets the number of finished
/// choices.
std::vector<report::GoalAnswer> search_goal(
    const spec::GoalSpec& goal, const std::vector<std::string>& labels, const Evaluate& evaluate,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// Returns all combinations of the searched values of all changes except the first range, in search order.
std::vector<std::vector<report::Change>> choices_of(const spec::GoalSpec& goal);

/// Returns the numbers of a range, ascending, including its ends: whole ones, those of three digits, or 1,000 equal
/// steps if the range does not begin above 0.
std::vector<double> numbers_of(const spec::VariedPath& range);

/// Largest number of choices of all searched values.
inline constexpr std::size_t kMostChoices = 10'000;
/// Returns the number of combinations: the product of the lists' lengths, and at most kTriedOfARange for each further
/// range. Returns kMostChoices + 1 if there are more.
std::size_t count_choices(const spec::GoalSpec& goal);
inline constexpr std::size_t kTriedOfARange = 7;
inline constexpr std::size_t kTriedOfTheRange = 13;

}  // namespace dadsim::study
