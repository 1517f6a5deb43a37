#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/convergence.hpp"
#include "estimate/verdict.hpp"
#include "report/document/document.hpp"
#include "report/layout/layout_report.hpp"
#include "report/run/result.hpp"
#include "report/words/statement.hpp"
#include "spec/goal_specification.hpp"

namespace dadsim::report {

/// The results of one run with some changes, from a full timing run.
struct Trial {
  bool reached = false;  ///< true: reaches the target accuracy within the scenario's epochs, with every seed
  double accuracy = 0;   ///< best accuracy of the run, with the worst seed
  /// Mean seconds over the seeds until the target, or until the work of the workload is done. This member and the
  /// following ones are valid if the target is reached. NaN if nothing is learned and the amount of work is unknown.
  double seconds = 0;
  Costs costs = {};
  std::size_t seeds = 1;         ///< number of seeds learned
  std::size_t seeds_missed = 0;  ///< number of seeds that did not reach the target
  /// Factors on seconds and costs: the run's band of time (report/run/contender.hpp), with the uncertainty from seeds
  /// and from the spacing of evaluations. An end may be infinite. Nothing if unknown.
  std::optional<estimate::Band> band = {};
  std::optional<double> assumed_scatter = {};       ///< scatter measured in other runs of its kind; filled if one seed
                                                    ///< was learned
  std::optional<estimate::Band> scaling_band = {};  ///< band of the scaling efficiency, as factors
  estimate::Contender contender = {};               ///< time with its uncertainty
  bool timed = true;                                ///< false: learning alone showed that the target is missed
  std::optional<double> lines_per_month = {};       ///< rent of lines per month
  std::vector<Statement> assumptions = {};          ///< assumptions of the timing
  std::optional<double> memory = {};                ///< bytes used on a worker's device
  std::optional<double> watts = {};                 ///< power of all devices together, mean over a step
  double devices = 0;                               ///< largest number of devices, of all workers together
  std::optional<double> throughput = {};            ///< tokens per second; samples per second if there are no tokens
  bool tokens = false;                              ///< true: throughput counts tokens
  std::optional<double> scaling = {};               ///< scaling efficiency
  double batch = 0;                                 ///< samples of all workers per step; 0: unknown
  std::string infeasible = {};                      ///< the fault that makes the trial infeasible; empty: feasible
  std::optional<Layout> layout = {};                ///< layout of the network, if the goal leaves it open
};

/// Ends of the bands of a trial's results; nothing if unknown.
struct TrialEnds {
  struct Ends {
    std::optional<double> low, high;
  };
  Ends seconds, throughput, scaling;
};
TrialEnds ends_of(const Trial& trial);

/// A change in the form "path=value".
struct Change {
  std::string path, value;
  std::string assignment() const { return path + "=" + value; }
};

/// A number of the range that was tried.
struct Tried {
  double number = 0;
  std::string value;  ///< the number as text of the setting
  Trial trial;
};

/// Numbers beyond the answer that miss the goal again, including both ends.
struct Stretch {
  std::string from, to;  ///< ends of the range, the preferred end first
  bool to_the_end = false;
};

/// The best result of one run, for one choice of the searched values.
struct GoalAnswer {
  std::string run;               ///< label of the run
  std::vector<Change> choices;   ///< values of all changes but the first range
  std::optional<Change> answer;  ///< value of the first range, if any; the best one if none meets the goal
  bool met = false;
  Trial trial;  ///< trial with the answer's values
  /// The next better number of the range, which misses the goal, and its trial. Nothing if the answer is the end of the
  /// range, or no number meets the goal.
  std::optional<Change> neighbour;
  std::optional<Trial> neighbour_trial;
  /// If the goal is met: numbers from which the goal may be met (`may`) and is surely met (`safe`), given the
  /// uncertainty from seeds (Trial::band). `safe` is empty if no number of the range is sure.
  std::optional<std::string> may, safe;
  std::vector<Stretch> misses_again;  ///< in the order of preference
  std::vector<Tried> tried;           ///< numbers of the first range, ascending
  bool tied = false;                  ///< true: the ordering objective cannot distinguish it from the first answer
  bool front = false;                 ///< true: part of the Pareto front of two objectives
};

/// The answers to the goal of a scenario.
struct PlanReport : ReportHead {
  std::string learned_on, timed_as;
  double target_accuracy = 0;
  std::string currency;  ///< currency of costs; empty without costs
  spec::GoalSpec goal;
  bool timing_only = false;                   ///< true: nothing is learned; the goal refers to a known amount of work
  std::string of;                             ///< timed workload; may be empty
  std::optional<estimate::KnownSteps> known;  ///< amount of work of the unchanged scenario; nothing: unknown
  std::vector<GoalAnswer> answers;            ///< answers that meet the goal first, the best first
  std::optional<Statement> rate_as_tcp;       ///< present if the adapters are given by rate alone
  std::size_t timing_runs = 0;                ///< number of timing runs
  std::size_t learned_runs = 0;
};

/// Returns the objective that orders answers which meet the goal: the named one, or else the one with a limit (money,
/// energy, CO2 equivalent); automatic if there is none.
spec::Objective objective_of(const spec::GoalSpec& goal);
/// Returns the value of an objective, less is better; infinite if unknown.
double objective_value(spec::Objective objective, const Trial& trial);
/// Returns whether answer `a` is better than `b`. Preferences are indices of their numbers in a range, the most
/// preferred first.
bool is_better(const spec::GoalSpec& goal, const GoalAnswer& a, std::size_t a_preference, const GoalAnswer& b,
               std::size_t b_preference);
/// Marks the Pareto front of two objectives, if the goal names both.
void mark_front(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers);

/// Standing of a trial against the limits of a goal, given the bands of its results.
enum class GoalStanding : std::uint8_t {
  met,     ///< the whole band meets the limits
  likely,  ///< the expected values meet the limits
  open,    ///< the expected values miss the limits, but part of the band meets them
  missed,
};
constexpr auto names_of(GoalStanding) {
  using enum GoalStanding;
  return std::to_array<spec::Name<GoalStanding>>(
      {{met, "met"}, {likely, "likely met"}, {open, "cannot be said"}, {missed, "missed"}});
}
using spec::to_string;
GoalStanding standing_of(const spec::GoalSpec& goal, const Trial& trial);
/// Returns whether the expected values meet every limit of the goal.
bool meets(const spec::GoalSpec& goal, const Trial& trial);
/// Returns whether part of the band meets the limits (may_meet), or all of it (surely_meets).
bool may_meet(const spec::GoalSpec& goal, const Trial& trial);
bool surely_meets(const spec::GoalSpec& goal, const Trial& trial);
/// Returns the largest ratio value ÷ limit. Infinite if the target is not reached, or a limited value is unknown.
/// Without limits, reaching the target meets the goal. `end`: end of the bands to use; null: expected values.
double excess(const spec::GoalSpec& goal, const Trial& trial, double estimate::Band::*end = nullptr);
/// Among the answers that are tied with the first one by the ordering objective, moves the best to the front: the one
/// that meets the goal most surely, then the better one by the second objective (cheaper, or quicker if money orders
/// the answers).
void settle_ties(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers);
/// Returns the assumption about batches if the choices have different global batches; else nothing.
std::optional<Statement> assumption_of_batches(const PlanReport& report);
/// Returns the goal in words: "reach 95 % within 1 min 0 s".
Statement goal_of(const PlanReport& report);
/// Returns the settings of an answer, "path=value" each.
std::vector<std::string> assignments_of(const GoalAnswer& answer);
/// Returns the time and cost of a trial, "1 min 0 s, 0.0508 USD", or the accuracy that it reaches.
Statement takes_of(const PlanReport& report, const Trial& trial);
/// Returns the distance to the goal: "misses by 12 min", "stays 3.00 s below".
Statement margin_of(const PlanReport& report, const Trial& trial);
/// Returns the uncertainty of a number from seeds: "8.3Mbps to 8.9Mbps over 5 seeds"; nothing if unknown.
std::optional<Statement> seed_band_of(const GoalAnswer& answer);
/// Returns "it is missed again from 20Mbps to 35Mbps"; nothing if it is not.
std::optional<Statement> missed_again_of(const GoalAnswer& answer);
/// Returns remarks on an answer other than on time and costs.
std::vector<Statement> remarks_on(const PlanReport& report, const GoalAnswer& answer);
/// Returns statements on the number that is enough, its time and costs, its uncertainty, and the numbers beyond it that
/// miss the goal again.
std::vector<Statement> answer_of(const PlanReport& report);
/// Returns charts: results over the numbers of a range, and time against money of the choices, with the limits.
std::vector<Chart> charts_of(const PlanReport& report);
/// Returns the document; docs/plan.md documents every member.
Document document_of(const PlanReport& report);

}  // namespace dadsim::report
