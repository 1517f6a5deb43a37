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
