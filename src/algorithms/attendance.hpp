#pragma once

#include <cstdint>
#include <vector>

#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Who takes part in a step, of a run in whose steps sites may be missing.
struct Attendees {
  std::vector<std::int32_t> sites;  ///< numbers among all sites, rising; one at least
  std::size_t all = 0;              ///< sites that there are
  /// On the part of each of `sites` in a sum over sites; empty: 1. Sites that step by themselves take no part in one.
  std::vector<float> factors;
};

/// Says before every step who takes part in it, and hears afterwards what the step did: what a step does decides how
/// long it takes, and so who is there for the next one.
class Attendance {
 public:
  virtual ~Attendance() = default;
  struct Present {
    std::vector<std::int32_t> sites;  ///< rising; at least one of them has rows. None: there are no more steps
    /// Per one of them, the probability that it is there; empty: what those that are there have is not weighed by it.
    std::vector<double> chances;
  };
  /// `rows`: per site, those of its batch. Steps are asked for in order.
  virtual Present next(std::int64_t step, const std::vector<std::int64_t>& rows) = 0;
  /// The last step of `so_far` has been taken.
  virtual void took(const step::Trajectory& so_far) = 0;
  /// Per site, the steps that it has begun so far, those among them that came to nothing: what a site has sent of one
  /// may have been seen all the same. Empty: all have begun all that were taken.
  virtual std::vector<std::int64_t> begun() const { return {}; }
  /// From now on nobody is present once a site has begun so many steps, those that came to nothing among them: what it
  /// may spend of its privacy ends there.
  virtual void limit_begun(std::int64_t /*most*/) {}
};

/// The factors of those that are there. c_s is what a site is worth (`worth`, empty: 1 everywhere), N_s its rows, P who
/// is there, π_s the probability of that. The step sums the gradients of N_s ÷ Σ_P N, so that
///   Σ_s c_s N_s ÷ Σ_P c N   over P takes the factor c_s Σ_P N ÷ Σ_P c N: the mean over those that are there
///   Σ_s c_s N_s ÷ (ΣN π_s)  over P takes the factor c_s Σ_P N ÷ (ΣN π_s): its expectation is the gradient of all
///                           (Horvitz and Thompson, JASA 47, 1952)
std::vector<float> factors_of(const Attendance::Present& present, const std::vector<std::int64_t>& rows,
                              const std::vector<float>& worth);

}  // namespace dadsim::algorithms
