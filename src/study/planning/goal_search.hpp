#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/plan/plan_report.hpp"

namespace dadsim::study {

/// One full timing run: of run `label` of the scenario with "path=value" set.
using Evaluate = std::function<report::Trial(const std::vector<std::string>& assignments, const std::string& label)>;

/// Finds, for every run in question and every choice of the searched values, the most preferred number of the first
/// range that meets the goal. The range is divided into numbers of three digits, of which kTriedOfTheRange, ends
/// included and evenly spread (in the logarithm, where it begins above 0), are tried first: more may mean slower. Where
/// of two of them next to each other one meets the goal and one does not, what is between is bisected. The answer
/// meets the goal and its neighbour does not, both by a timing run of their own; where the goal is missed again beyond
/// it, that is told, as is from which number on it may be met and surely is, by what seeds leave open. A stretch
/// between two of those that were tried first, which has neither, is not seen. Answers that meet the goal come first,
/// in the order of report::is_better(). `progress` is told how many of the choices are through.
std::vector<report::GoalAnswer> search_goal(
    const spec::GoalSpec& goal, const std::vector<std::string>& labels, const Evaluate& evaluate,
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// Every choice of the values that are searched: of all changes but the first range, in the order of the search.
std::vector<std::vector<report::Change>> choices_of(const spec::GoalSpec& goal);

/// The numbers of a range, ascending: whole ones, or those of three digits, with its ends.
std::vector<double> numbers_of(const spec::VariedPath& range);

/// Choices of all that is searched; at most this many.
inline constexpr std::size_t kMostChoices = 10'000;
/// The number of choices in the product of the lists and of kTriedOfARange numbers of each further range.
std::size_t count_choices(const spec::GoalSpec& goal);
inline constexpr std::size_t kTriedOfARange = 7;
inline constexpr std::size_t kTriedOfTheRange = 13;

}  // namespace dadsim::study
