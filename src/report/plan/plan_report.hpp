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

/// What one run takes to the target, with some changes made: a full timing run.
struct Trial {
  bool reached = false;  ///< the target accuracy, within the scenario's epochs, with every seed
  double accuracy = 0;   ///< the best of the run; of the seed that came to the least
  /// To the target, mean over the seeds, or until the work of the workload is done; meaningful if reached, as what
  /// follows. Not a number where nothing is learned and nothing says how much work there is.
  double seconds = 0;
  Costs costs = {};
  std::size_t seeds = 1;         ///< that were learned
  std::size_t seeds_missed = 0;  ///< that did not reach it
  /// Factors on seconds and costs: the band of the time, as that of a run (report/run/contender.hpp), with what seeds
  /// and the spacing of evaluations leave open; an end may be infinite. None where nothing tells.
  std::optional<estimate::Band> band = {};
  std::optional<double> assumed_scatter = {};       ///< of runs of its kind, where one seed was learned
  std::optional<estimate::Band> scaling_band = {};  ///< factors on the scaling efficiency
  estimate::Contender contender = {};               ///< what is known of its time
  bool timed = true;                                ///< false: that learning does not reach it was seen before
  std::optional<double> lines_per_month = {};       ///< rent of the lines that have a price
  std::vector<Statement> assumptions = {};          ///< of the timing
  std::optional<double> memory = {};                ///< bytes of a worker's device
  std::optional<double> watts = {};                 ///< of all devices, mean over a step
  double devices = 0;                               ///< of all workers
  std::optional<double> throughput = {};            ///< tokens per second, or samples where there are none
  bool tokens = false;                              ///< throughput is of tokens
  std::optional<double> scaling = {};               ///< scaling efficiency
  double batch = 0;                                 ///< samples of all workers per step; 0: not known
  std::string infeasible = {};                      ///< the fault that keeps it from going; empty: it goes
  std::optional<Layout> layout = {};                ///< how the network is divided, where the goal leaves that free
};

/// The ends of the bands of what a trial takes; none where they are not known.
struct TrialEnds {
  struct Ends {
    std::optional<double> low, high;
  };
  Ends seconds, throughput, scaling;
};
TrialEnds ends_of(const Trial& trial);

/// A change as it is made: "path=value".
struct Change {
  std::string path, value;
  std::string assignment() const { return path + "=" + value; }
};

/// A number of the range that was tried.
struct Tried {
  double number = 0;
  std::string value;  ///< as it is set
  Trial trial;
};

/// Numbers beyond the answer that miss the goal again: from one to the other, both of which do.
struct Stretch {
  std::string from, to;  ///< the more preferred one first
  bool to_the_end = false;
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
  /// Where the goal is met: the number from which on it may be met, and that from which on it is, by what seeds leave
  /// open (Trial::band). `safe` is none where no number of the range is so far on.
  std::optional<std::string> may, safe;
  std::vector<Stretch> misses_again;  ///< in the order of preference
  std::vector<Tried> tried;           ///< of the first range, ascending
  bool tied = false;                  ///< not told apart from the first answer by what answers are ordered by
  bool front = false;  ///< with an objective against another: no answer that meets the goal beats it in both
};

/// The answers to the goal of a scenario.
struct PlanReport : ReportHead {
  std::string learned_on, timed_as;
  double target_accuracy = 0;
  std::string currency;  ///< of costs; empty where none are told
  spec::GoalSpec goal;
  bool timing_only = false;                   ///< nothing is learned: work is to be done
  std::string of;                             ///< the workload that is timed; may be empty
  std::optional<estimate::KnownSteps> known;  ///< how much work that is, as the scenario stands; none: not known
  std::vector<GoalAnswer> answers;            ///< those that meet the goal first, the best first
  std::optional<Statement> rate_as_tcp;       ///< adapters are given by a rate alone
  std::size_t timing_runs = 0;                ///< made for it
  std::size_t learned_runs = 0;
};

/// What answers that meet the goal are ordered by: what it names, or else what has a limit, money first.
spec::Objective objective_of(const spec::GoalSpec& goal);
/// The less the better; infinite where it is not known.
double objective_value(spec::Objective objective, const Trial& trial);
/// Whether `a` is the better one of two answers of a goal; preferences are the places of their numbers in a range, the
/// most preferred one first.
bool is_better(const spec::GoalSpec& goal, const GoalAnswer& a, std::size_t a_preference, const GoalAnswer& b,
               std::size_t b_preference);
/// Marks the front of the objective against the other, where the goal names both.
void mark_front(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers);

/// How a trial stands to the limits of a goal, by the band of what it takes.
enum class GoalStanding : std::uint8_t {
  met,     ///< all of the band meets it
  likely,  ///< what is expected meets it
  open,    ///< what is expected misses it, and some of the band meets it
  missed,
};
constexpr auto names_of(GoalStanding) {
  using enum GoalStanding;
  return std::to_array<spec::Name<GoalStanding>>(
      {{met, "met"}, {likely, "likely met"}, {open, "cannot be said"}, {missed, "missed"}});
}
using spec::to_string;
GoalStanding standing_of(const spec::GoalSpec& goal, const Trial& trial);
/// Whether what is expected meets every limit of the goal.
bool meets(const spec::GoalSpec& goal, const Trial& trial);
/// Whether some of the band does, and whether all of it does.
bool may_meet(const spec::GoalSpec& goal, const Trial& trial);
bool surely_meets(const spec::GoalSpec& goal, const Trial& trial);
/// By how much it exceeds the limits: the greatest of value ÷ limit, infinite where the target is not reached or a
/// limited value is not known. A goal without limits is met by whatever reaches the target. `end`: of the band, none:
/// as expected.
double excess(const spec::GoalSpec& goal, const Trial& trial, double estimate::Band::*end = nullptr);
/// Of answers that cannot be told apart from the first by what they are ordered by, puts the one first that is surer to
/// meet the goal, then the one with the better second figure: the cheaper, or the quicker where money orders them.
void settle_ties(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers);
/// What is taken for granted where the choices have other batches of all workers; none where they do not.
std::optional<Statement> assumption_of_batches(const PlanReport& report);
/// What is asked: "reach 95 % within 1 min 0 s".
Statement goal_of(const PlanReport& report);
/// The changes of an answer, "path=value" each.
std::vector<std::string> assignments_of(const GoalAnswer& answer);
/// What a trial takes and costs, "1 min 0 s, 0.0508 USD", or the accuracy that it comes to.
Statement takes_of(const PlanReport& report, const Trial& trial);
/// How it stands to the goal: "misses by 12 min", "stays 3.00 s below".
Statement margin_of(const PlanReport& report, const Trial& trial);
/// What seeds leave open of a number: "8.3Mbps to 8.9Mbps over 5 seeds"; none where nothing is known.
std::optional<Statement> seed_band_of(const GoalAnswer& answer);
/// "it is missed again from 20Mbps to 35Mbps"; none where it is not.
std::optional<Statement> missed_again_of(const GoalAnswer& answer);
/// What there is to say of an answer beside what it takes.
std::vector<Statement> remarks_on(const PlanReport& report, const GoalAnswer& answer);
/// What is enough, what that takes and costs, between what it lies, and where beyond it the goal is missed again.
std::vector<Statement> answer_of(const PlanReport& report);
/// Every member is documented in docs/plan.md.
Document document_of(const PlanReport& report);

}  // namespace dadsim::report
