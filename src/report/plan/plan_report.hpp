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

/// The results of one run with some changes, in a full timing run.
struct Trial {
  bool reached = false;  ///< true: reaches the target accuracy within the scenario's epochs, with every seed
  double accuracy = 0;   ///< best accuracy of the run, for the worst seed
  /// Seconds to the target, mean over the seeds, or until the work of the workload is done. This member and the
  /// following ones are meaningful if the target is reached. Not a number if nothing is learned and the amount of work
  /// is unknown.
  double seconds = 0;
  Costs costs = {};
  std::size_t seeds = 1;         ///< seeds that were learned
  std::size_t seeds_missed = 0;  ///< seeds that did not reach the target
  /// Factors on seconds and costs: the run's band of time (report/run/contender.hpp), with the uncertainty from seeds
  /// and from the spacing of evaluations. An end may be infinite. Nothing if unknown.
  std::optional<estimate::Band> band = {};
  std::optional<double> assumed_scatter = {};       ///< scatter of runs of its kind, if only one seed was learned
  std::optional<estimate::Band> scaling_band = {};  ///< factors on the scaling efficiency
  estimate::Contender contender = {};               ///< its time with uncertainty
  bool timed = true;                                ///< false: learning alone showed that the target is missed
  std::optional<double> lines_per_month = {};       ///< rent of the lines that have a price
  std::vector<Statement> assumptions = {};          ///< assumptions of the timing
  std::optional<double> memory = {};                ///< bytes on a worker's device
  std::optional<double> watts = {};                 ///< sum over all devices, mean over a step
  double devices = 0;                               ///< devices of all workers
  std::optional<double> throughput = {};            ///< tokens per second, or samples without tokens
  bool tokens = false;                              ///< true: throughput counts tokens
  std::optional<double> scaling = {};               ///< scaling efficiency
  double batch = 0;                                 ///< samples of all workers per step; 0: unknown
  std::string infeasible = {};                      ///< the fault that makes it infeasible; empty: feasible
  std::optional<Layout> layout = {};                ///< division of the network, if the goal leaves it free
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
  std::string value;  ///< text of the setting
  Trial trial;
};

/// Numbers beyond the answer that miss the goal again, from one to the other, both included.
struct Stretch {
  std::string from, to;  ///< the preferred end first
  bool to_the_end = false;
};

/// The best result of one run for one choice of the searched values.
struct GoalAnswer {
  std::string run;               ///< label of the run
  std::vector<Change> choices;   ///< values of all changes but the first range
  std::optional<Change> answer;  ///< value of the first range, if any; the best one if the goal is out of reach
  bool met = false;
  Trial trial;  ///< trial with these values
  /// The next better number of the range, if it met the goal, and the trial with which it misses. Nothing if the answer
  /// is the end of the range, or the goal is out of reach.
  std::optional<Change> neighbour;
  std::optional<Trial> neighbour_trial;
  /// If the goal is met: numbers from which on it may be met, and surely is, given the uncertainty from seeds
  /// (Trial::band). `safe` is empty if the range ends before.
  std::optional<std::string> may, safe;
  std::vector<Stretch> misses_again;  ///< in the order of preference
  std::vector<Tried> tried;           ///< numbers of the first range, ascending
  bool tied = false;                  ///< true: cannot be told apart from the first answer by the ordering objective
  bool front = false;                 ///< true: no answer that meets the goal beats it in both of two objectives
};

/// The answers to the goal of a scenario.
struct PlanReport : ReportHead {
  std::string learned_on, timed_as;
  double target_accuracy = 0;
  std::string currency;  ///< currency of costs; empty without costs
  spec::GoalSpec goal;
  bool timing_only = false;                   ///< nothing is learned; the goal concerns work to be done
  std::string of;                             ///< timed workload; may be empty
  std::optional<estimate::KnownSteps> known;  ///< amount of work for the scenario as it is; nothing: unknown
  std::vector<GoalAnswer> answers;            ///< answers that meet the goal first, the best first
  std::optional<Statement> rate_as_tcp;       ///< present if only a rate describes adapters
  std::size_t timing_runs = 0;                ///< timing runs made
  std::size_t learned_runs = 0;
};

/// Returns the objective that orders answers which meet the goal: the one named, or else the one with a limit, money
/// first.
spec::Objective objective_of(const spec::GoalSpec& goal);
/// Returns the value of an objective, where less is better; infinite if unknown.
double objective_value(spec::Objective objective, const Trial& trial);
/// Returns whether `a` is the better of two answers to a goal. Preferences are the places of their numbers in a range,
/// the most preferred first.
bool is_better(const spec::GoalSpec& goal, const GoalAnswer& a, std::size_t a_preference, const GoalAnswer& b,
               std::size_t b_preference);
/// Marks the Pareto front of two objectives, if the goal names both.
void mark_front(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers);

/// Standing of a trial against the limits of a goal, given the band of its results.
enum class GoalStanding : std::uint8_t {
  met,     ///< the whole band meets it
  likely,  ///< the expected value meets it
  open,    ///< the expected value misses it, and part of the band meets it
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
/// Returns the greatest value ÷ limit. It is infinite if the target is not reached or a limited value is unknown.
/// Without limits, reaching the target meets the goal. `end`: end of the band; null: expected values.
double excess(const spec::GoalSpec& goal, const Trial& trial, double estimate::Band::*end = nullptr);
/// Settles ties with the first answer by the ordering objective. The answer that meets the goal more surely comes
/// first, then the one with the better second figure: the cheaper, or the quicker if money orders them.
void settle_ties(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers);
/// Returns the assumption about batches if choices have different batches of all workers; else nothing.
std::optional<Statement> assumption_of_batches(const PlanReport& report);
/// Returns the goal: "reach 95 % within 1 min 0 s".
Statement goal_of(const PlanReport& report);
/// Returns the changes of an answer, "path=value" each.
std::vector<std::string> assignments_of(const GoalAnswer& answer);
/// Returns the time and cost of a trial, "1 min 0 s, 0.0508 USD", or the accuracy that it reaches.
Statement takes_of(const PlanReport& report, const Trial& trial);
/// Returns the distance to the goal: "misses by 12 min", "stays 3.00 s below".
Statement margin_of(const PlanReport& report, const Trial& trial);
/// Returns the uncertainty of a number from seeds: "8.3Mbps to 8.9Mbps over 5 seeds"; nothing if unknown.
std::optional<Statement> seed_band_of(const GoalAnswer& answer);
/// Returns "it is missed again from 20Mbps to 35Mbps"; nothing if it is not.
std::optional<Statement> missed_again_of(const GoalAnswer& answer);
/// Returns remarks on an answer, apart from its time and costs.
std::vector<Statement> remarks_on(const PlanReport& report, const GoalAnswer& answer);
/// Returns the least that is enough, its time and costs, its uncertainty, and where beyond it the goal is missed again.
std::vector<Statement> answer_of(const PlanReport& report);
/// Returns what the numbers of a range take, and time against money of the choices with the limits.
std::vector<Chart> charts_of(const PlanReport& report);
/// Returns the document; docs/plan.md documents every member.
Document document_of(const PlanReport& report);

}  // namespace dadsim::report
