#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/result.hpp"
#include "spec/goal_specification.hpp"

namespace dadsim::report {

/// What one run takes to the target, with some changes made: a full timing run.
struct Trial {
  bool reached = false;  ///< the target accuracy, within the scenario's epochs
  double accuracy = 0;   ///< the best of the run
  double seconds = 0;    ///< to the target; meaningful if reached, as what follows
  Costs costs = {};
};

/// A change as it is made: "path=value".
struct Change {
  std::string path, value;
  std::string assignment() const { return path + "=" + value; }
};

/// The best that one run comes to with one choice of the values that are searched.
struct GoalAnswer {
  std::string run;               ///< label
  std::vector<Change> choices;   ///< of all changes but the first range
  std::optional<Change> answer;  ///< of the first range, if there is one; if the goal is out of reach, the best of it
  bool met = false;
  Trial trial;  ///< with these
  /// The next number of the range that would be better if it met the goal, and what it misses it with. None where the
  /// answer is the end of the range, or the goal is out of reach.
  std::optional<Change> neighbour;
  std::optional<Trial> neighbour_trial;
};

/// The answers to the goal of a scenario.
struct PlanReport {
  std::string version, simgrid, network_model, scenario_name;
  std::string learned_on, timed_as;
  std::vector<std::string> assumptions;
  double target_accuracy = 0;
  std::string currency;  ///< of costs; empty where none are told
  spec::GoalSpec goal;
  std::vector<GoalAnswer> answers;  ///< those that meet the goal first, the best first
  std::size_t timing_runs = 0;      ///< made for it
  std::size_t learned_runs = 0;
};

/// Whether it meets every limit of the goal.
bool meets(const spec::GoalSpec& goal, const Trial& trial);
/// By how much it exceeds the limits: the greatest of value ÷ limit, infinite where the target is not reached or a
/// limited value is not known. A goal without limits is met by whatever reaches the target.
double excess(const spec::GoalSpec& goal, const Trial& trial);
/// In words: "misses by 12 min", "stays 3.00 s below".
std::string margin_in_words(const PlanReport& report, const Trial& trial);

/// For a terminal: the answer, its neighbours, and all choices. At most kTableWidth columns wide.
std::string to_table(const PlanReport& report);
/// As JSON; every field is documented in docs/plan.md.
std::string to_json(const PlanReport& report);

}  // namespace dadsim::report
