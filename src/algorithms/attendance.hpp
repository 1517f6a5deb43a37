#pragma once

#include <cstdint>
#include <vector>

#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Participants of one step, in a run where sites may miss steps.
struct Attendees {
  std::vector<std::int32_t> sites;  ///< numbers among all sites, ascending; at least one
  std::size_t all = 0;              ///< number of sites of the run
  /// Factor on the part of each of `sites` in a sum over sites; empty: 1. Not used by sites that step independently.
  std::vector<float> factors;
};

/// Decides before every step which sites take part, and receives the step's record afterwards: its content determines
/// its duration, and so who is present for the next one.
class Attendance {
 public:
  virtual ~Attendance() = default;
  struct Present {
    std::vector<std::int32_t> sites;  ///< ascending; at least one of them has rows. Empty: training ends
    /// Probability that each of `sites` is present; empty: contributions are not weighted by it
    std::vector<double> chances;
  };
  /// Returns who takes part in `step`. `rows`: batch rows per site. The caller asks for steps in order.
  virtual Present next(std::int64_t step, const std::vector<std::int64_t>& rows) = 0;
  /// Called after the last step of `so_far` was taken.
  virtual void took(const step::Trajectory& so_far) = 0;
  /// Returns the number of steps that each site has begun, including those without a result: their messages may have
  /// been observed. Empty: all sites have begun all steps taken.
  virtual std::vector<std::int64_t> begun() const { return {}; }
  /// Ends the run once a site has begun this many steps, including those without a result: its privacy budget ends
  /// there.
  virtual void limit_begun(std::int64_t /*most*/) {}
};

/// Returns the factors of the sites present. c_s is the worth of a site (`worth`, empty: 1 everywhere), N_s its rows, P
/// the set of sites present, π_s the probability that s is in P. The step sums the gradients of N_s ÷ Σ_P N, so that
///   Σ_s c_s N_s ÷ Σ_P c N   over P takes the factor c_s Σ_P N ÷ Σ_P c N: the mean over the sites present
///   Σ_s c_s N_s ÷ (ΣN π_s)  over P takes the factor c_s Σ_P N ÷ (ΣN π_s): its expectation is the gradient of all
///                           (Horvitz and Thompson, JASA 47, 1952)
std::vector<float> factors_of(const Attendance::Present& present, const std::vector<std::int64_t>& rows,
                              const std::vector<float>& worth);

}  // namespace dadsim::algorithms
