// Ranking of runs with its uncertainty, the same for runs, sweeps, comparisons, plans and pages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/efficiency.hpp"
#include "spec/names.hpp"

namespace dadsim::estimate {

/// Time at which a run reached the target with one seed, in seconds. It is later than `after`, the last evaluation
/// before the target, and at most `at`, the first evaluation that reached it.
struct Arrival {
  double after = 0, at = 0;
  double steps = 0;  ///< steps taken until then; 0: unknown, or none
  bool operator==(const Arrival&) const = default;
};

/// Returns the standard deviation over seeds of ln(time to the target ÷ time of an exact run with the same seed), by
/// kind of method ("low-rank"; measured: seed_scatter.csv). For unmeasured kinds returns the value of "unknown". For
/// "alone" returns the deviation of ln(time of an exact run).
double seed_scatter(std::string_view kind);

/// Returns half the width of the 95 % interval for one seed, as a logarithm.
inline double chance_of(double scatter) { return 1.96 * scatter; }

/// Returns the ratio of two runs' times to the target over the seeds of both. Both lists have one entry per seed, at
/// least one. The 95 % interval combines two intervals, one per cause: seeds:        Fieller's interval of the ratio of
/// the means (ratio_of_means). One seed shows no scatter; then chance_of(`scatter`) is combined with the other interval
/// in quadrature. evaluations:  each arrival lies anywhere between two evaluations, possibly at the same place with
/// every seed: the ratio is from Σ after ÷ Σ at of `of` to Σ at ÷ Σ after of `of`. Runs that `learn_the_same` (exact
/// algorithms: equal up to rounding, step by step) arrive at the same place between evaluations, which then add no
/// uncertainty. Throws std::invalid_argument if the lists differ in length or are empty, or if `of` takes no time.
Estimate times_as_long(const std::vector<Arrival>& run, const std::vector<Arrival>& of, bool learn_the_same,
                       double scatter);

/// Rank of a run relative to the fastest.
enum class Standing : std::uint8_t {
  first,      ///< the fastest run itself
  behind,     ///< slower
  equal,      ///< equally fast, within kMargin: the whole interval of the ratio is inside
  undecided,  ///< faster or slower: the uncertainty does not decide
};
constexpr auto names_of(Standing) {
  using enum Standing;
  return std::to_array<spec::Name<Standing>>(
      {{first, "first"}, {behind, "behind"}, {equal, "equal"}, {undecided, "undecided"}});
}
/// Returns whether the run cannot be distinguished from the fastest.
inline bool is_beside(Standing standing) { return standing == Standing::equal || standing == Standing::undecided; }

/// Largest negligible difference, as a share of the time.
inline constexpr double kMargin = 0.05;

/// Information that would decide an undecided verdict, by the largest source of uncertainty.
enum class WouldTell : std::uint8_t { nothing, seeds, evaluations, calibration };
constexpr auto names_of(WouldTell) {
  using enum WouldTell;
  return std::to_array<spec::Name<WouldTell>>(
      {{nothing, "nothing"}, {seeds, "seeds"}, {evaluations, "evaluations"}, {calibration, "calibration"}});
}
using spec::to_string;
/// Returns the value of that name. Throws std::logic_error if there is none.
WouldTell would_tell_of(std::string_view name);

/// A run to compare: its time, or another quantity, with what is known about its uncertainty.
struct Contender {
  double seconds = 0;  ///< seconds, mean over the seeds
  /// Arrival at the target with each seed; empty for times that are not learned times to a target.
  std::vector<std::optional<Arrival>> arrivals = {};
  /// True: the run learns the same as every exact algorithm, up to rounding.
  bool exact = false;
  double step_seconds = 0;
  std::vector<double> by_seed = {};          ///< time with each seed, if times are not arrivals at a target
  std::optional<Estimate> relative = {};     ///< relative steps, for a time at scale
  std::vector<TimePart> parts = {};          ///< parts of a step, for the errors of times; empty: unknown
  double scatter = seed_scatter("unknown");  ///< scatter over seeds, by the method's kind
};

struct Verdict {
  Estimate ratio;  ///< time ÷ time of the fastest, with its whole uncertainty
  Standing standing = Standing::first;
  WouldTell would_tell = WouldTell::nothing;  ///< information that would decide an undecided verdict
};

/// Gives exact algorithms, which learn the same trajectory, the same steps to the target. Differences in steps between
/// them, or a target that only some of them met, are due to rounding. For each seed, all get the steps of the first one
/// to meet the target. Returns the largest shift in steps; 0: none; −1: one had missed the target.
double align_exact(std::vector<Contender>& contenders);

/// Compares `other` with `first`, the faster one. Errors common to the steps of both cancel (ratio_band). Uncertainties
/// of seeds and evaluations (times_as_long) and of relative steps are independent: their logarithms are combined in
/// quadrature.
Verdict decide(const Contender& first, const Contender& other);

}  // namespace dadsim::estimate
