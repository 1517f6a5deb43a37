// Ranking of runs with its uncertainty: one decision for runs, sweeps, comparisons, plans and pages.
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

/// Time at which a run reached the target with one seed, in seconds. It lies after `after`, the last evaluation before
/// the target, and at the latest at `at`, the first evaluation that reached it.
struct Arrival {
  double after = 0, at = 0;
  double steps = 0;  ///< steps taken until then; 0: unknown, or none
  bool operator==(const Arrival&) const = default;
};

/// Returns the standard deviation over seeds of ln(time to the target ÷ time of an exact run with the same seed), by
/// kind of method ("low-rank"; measured: seed_scatter.csv). Unmeasured kinds have the value of "unknown". "alone" is
/// the deviation of ln(time of an exact run).
double seed_scatter(std::string_view kind);

/// Returns half the width of the 95 % interval for one seed, as a logarithm.
inline double chance_of(double scatter) { return 1.96 * scatter; }

/// Returns the ratio of two runs' times to the target over the seeds of both. Both lists have one entry per seed, at
/// least one. The 95 % interval combines two intervals, one per cause:
///   seeds:        Fieller's interval of the ratio of the means (ratio_of_means); with one seed, which tells nothing of
///                 chance, chance_of(`scatter`), added to the other in squares;
///   evaluations:  each arrival lies anywhere between two evaluations, and at the same place with every seed for all
///                 that is known: from Σ after ÷ Σ at of the other to Σ at ÷ Σ after of the other. Runs that
///                 `learn_the_same` (exact algorithms: the same up to rounding, step by step) have theirs at the same
///                 place, so that evaluations leave nothing open between them.
/// Throws std::invalid_argument where the lists differ in length, are empty, or `of` takes no time.
Estimate times_as_long(const std::vector<Arrival>& run, const std::vector<Arrival>& of, bool learn_the_same,
                       double scatter);

/// Standing of a run relative to the quickest.
enum class Standing : std::uint8_t {
  first,      ///< it is the quickest itself
  behind,     ///< it takes longer
  equal,      ///< it takes as long, within kMargin: the whole interval of the ratio lies inside
  undecided,  ///< the uncertainty leaves open which of the two is quicker
};
constexpr auto names_of(Standing) {
  using enum Standing;
  return std::to_array<spec::Name<Standing>>(
      {{first, "first"}, {behind, "behind"}, {equal, "equal"}, {undecided, "undecided"}});
}
/// Returns whether the run is not distinguishable from the first.
inline bool is_beside(Standing standing) { return standing == Standing::equal || standing == Standing::undecided; }

/// Largest negligible difference, as a share of the time.
inline constexpr double kMargin = 0.05;

/// Missing information that would decide an undecided verdict, by the largest uncertainty.
enum class WouldTell : std::uint8_t { nothing, seeds, evaluations, calibration };
constexpr auto names_of(WouldTell) {
  using enum WouldTell;
  return std::to_array<spec::Name<WouldTell>>(
      {{nothing, "nothing"}, {seeds, "seeds"}, {evaluations, "evaluations"}, {calibration, "calibration"}});
}
using spec::to_string;
/// Returns the value of that name. Throws std::logic_error if there is none.
WouldTell would_tell_of(std::string_view name);

/// A run with the known properties of its time, or of another quantity by which runs are compared.
struct Contender {
  double seconds = 0;  ///< mean over the seeds
  /// Arrival at the target per seed; empty for times that are not learned times to a target.
  std::vector<std::optional<Arrival>> arrivals = {};
  /// True: the run learns the same as every exact algorithm, up to rounding.
  bool exact = false;
  double step_seconds = 0;
  std::vector<double> by_seed = {};          ///< times by seed, if they are not arrivals at a target
  std::optional<Estimate> relative = {};     ///< relative steps of a time at scale
  std::vector<TimePart> parts = {};          ///< parts of a step, for the errors of times; empty: unknown
  double scatter = seed_scatter("unknown");  ///< scatter over seeds of the method's kind
};

struct Verdict {
  Estimate ratio;  ///< time ÷ time of the first, with its whole uncertainty
  Standing standing = Standing::first;
  WouldTell would_tell = WouldTell::nothing;  ///< missing information of an undecided verdict
};

/// Aligns exact algorithms, which learn the same trajectory. If one of them meets the target some steps before another,
/// or alone, that is rounding. For each seed, all are taken to meet it after as many steps as the first. Returns the
/// largest shift in steps; 0: none; −1: one had missed it.
double align_exact(std::vector<Contender>& contenders);

/// Compares `other` with `first`, the quicker one. Errors that the steps of both share cancel (ratio_band).
/// Uncertainties of seeds and evaluations (times_as_long) and of relative steps are independent: logarithms are
/// combined in quadrature.
Verdict decide(const Contender& first, const Contender& other);

}  // namespace dadsim::estimate
