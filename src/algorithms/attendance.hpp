#pragma once

#include <cstdint>
#include <vector>

#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Participants of one step, for runs in which sites may miss steps.
struct Attendees {
  std::vector<std::int32_t> sites;  ///< numbers of the participants among all sites, ascending; at least one
  std::size_t all = 0;              ///< number of sites of the run
  /// Factor on each participant's part of a sum over sites; empty: 1. Not used by sites that step independently.
  std::vector<float> factors;
};

/// Decides before every step which sites take part. Receives the record of the step afterwards, since its duration
/// determines who is present in the next step.
class Attendance {
 public:
  virtual ~Attendance() = default;
  struct Present {
    std::vector<std::int32_t> sites;  ///< numbers of the sites, ascending; at least one of them has rows. Empty:
                                      ///< training ends
    /// Probability that each of `sites` is present; empty: contributions are not weighted by probability.
    std::vector<double> chances;
  };
  /// Returns the participants of `step`. `rows`: batch rows per site. The caller asks for steps in order.
  virtual Present next(std::int64_t step, const std::vector<std::int64_t>& rows) = 0;
  /// Receives the trajectory after its last step was carried out.
  virtual void took(const step::Trajectory& so_far) = 0;
  /// Returns the number of steps that each site has begun. Steps without a result count, since their messages may have
  /// been observed. Empty: all sites have begun all steps carried out.
  virtual std::vector<std::int64_t> begun() const { return {}; }
  /// Ends the run once a site has begun this many steps, including those without a result, because its privacy budget
  /// is spent then.
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
