#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/comparison.hpp"
#include "estimate/efficiency.hpp"
#include "spec/names.hpp"

// Ranking of runs with its uncertainty: one decision for runs, sweeps, comparisons, plans and pages.

namespace dadsim::estimate {

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
/// Not told apart from the first.
inline bool is_beside(Standing standing) { return standing == Standing::equal || standing == Standing::undecided; }

/// Differences that nobody should act on, as a share of the time.
inline constexpr double kMargin = 0.05;

/// Missing information that would decide an undecided verdict, by the largest uncertainty.
enum class WouldTell : std::uint8_t { nothing, seeds, evaluations, calibration };
constexpr auto names_of(WouldTell) {
  using enum WouldTell;
  return std::to_array<spec::Name<WouldTell>>(
      {{nothing, "nothing"}, {seeds, "seeds"}, {evaluations, "evaluations"}, {calibration, "calibration"}});
}
using spec::to_string;
/// The one of that name. Throws std::logic_error where there is none.
WouldTell would_tell_of(std::string_view name);

/// A run with what is known of its time, by what runs are compared by.
struct Contender {
  double seconds = 0;  ///< mean over the seeds
  /// Arrival at the target per seed; empty for times that are not learned times to a target.
  std::vector<std::optional<Arrival>> arrivals = {};
  /// It learns what every exact algorithm does, up to rounding.
  bool exact = false;
  double step_seconds = 0;
  std::vector<double> by_seed = {};          ///< times that seeds scatter, where they are no arrivals
  std::optional<Estimate> relative = {};     ///< relative steps of a time at scale
  std::vector<TimePart> parts = {};          ///< parts of a step, for the errors of times; empty: not known
  double scatter = seed_scatter("unknown");  ///< scatter over seeds of the method's kind
};

struct Verdict {
  Estimate ratio;  ///< time ÷ time of the first, with its whole uncertainty
  Standing standing = Standing::first;
  WouldTell would_tell = WouldTell::nothing;  ///< missing information of an undecided verdict
};

/// Exact algorithms learn one trajectory: where one of them meets the target some steps before another, or alone, that
/// is rounding, which is nobody's merit. They are all taken to have met it, seed by seed, after as many steps as the
/// one that met it first. Gives how many steps that moved one of them at most; 0: none; −1: one had missed it.
double align_exact(std::vector<Contender>& contenders);

/// Compares `other` with `first`, the quicker one. Errors that the steps of both share cancel (ratio_band).
/// Uncertainties of seeds and evaluations (times_as_long) and of relative steps are independent: logarithms are
/// combined in quadrature.
Verdict decide(const Contender& first, const Contender& other);

}  // namespace dadsim::estimate
