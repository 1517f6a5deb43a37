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

// Who is first, by how much, and how sure that is: one decision for runs, sweeps, comparisons, plans and pages.

namespace dadsim::estimate {

/// How a run stands to the quickest.
enum class Standing : std::uint8_t {
  first,      ///< it is the quickest itself
  behind,     ///< it takes longer
  equal,      ///< it takes as long, within kMargin: the whole interval of the ratio lies inside
  undecided,  ///< what is known leaves open which of the two is the quicker one
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

/// What a verdict that is undecided waits for, by what leaves the most open.
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
  /// Of times to a target that were learned, by seed: when it was reached. Empty of other times.
  std::vector<std::optional<Arrival>> arrivals = {};
  /// It learns what every exact algorithm does, up to rounding.
  bool exact = false;
  double step_seconds = 0;
  std::vector<double> by_seed = {};          ///< times that seeds scatter, where they are no arrivals
  std::optional<Estimate> relative = {};     ///< of times at scale: relative steps
  std::vector<TimePart> parts = {};          ///< of a step, for the errors of times; empty: none are known
  double scatter = seed_scatter("unknown");  ///< of its kind, with one seed
};

struct Verdict {
  Estimate ratio;  ///< how many times as long as the first, with all that leaves it open
  Standing standing = Standing::first;
  WouldTell would_tell = WouldTell::nothing;  ///< where it is undecided
};

/// Exact algorithms learn one trajectory: where one of them meets the target some steps before another, or alone, that
/// is rounding, which is nobody's merit. They are all taken to have met it, seed by seed, after as many steps as the
/// one that met it first. Gives how many steps that moved one of them at most; 0: none; −1: one had missed it.
double align_exact(std::vector<Contender>& contenders);

/// How `other` stands to `first`, the quicker one. What is wrong with the time of a step of both falls out
/// (ratio_band). Seeds, evaluations (times_as_long) and relative steps of each leave open what they leave open;
/// independent causes are combined in quadrature, as logarithms.
Verdict decide(const Contender& first, const Contender& other);

}  // namespace dadsim::estimate
