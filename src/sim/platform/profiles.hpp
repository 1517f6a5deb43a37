#pragma once

#include <utility>
#include <vector>

#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Attaches the profiles of a platform to the links that they name. Call before the platform is sealed. Throws
/// std::runtime_error if a name fits no link.
void apply_profiles(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

/// Returns whether the profile never changes anything.
bool is_steady(const spec::PlatformSpec::Profile& profile);

/// Steady states of a network between changes of its profiles, with the bandwidths and latencies of its links in each.
class SteadyStates {
 public:
  /// Reads the profiles of a platform that is built, before its simulation begins.
  SteadyStates(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

  /// Index of the present factor, for each profile that changes something.
  using State = std::vector<std::size_t>;
  State at(double date) const;
  /// Returns the date of the first change after `date`, seconds; infinity if there is none.
  double next(double date) const;
  /// A link changed by profiles, with its bandwidth (byte/s) and latency (seconds) in a state.
  struct ProfileNumbers {
    simgrid::s4u::Link* link = nullptr;
    double bandwidth = 0, latency = 0;
  };
  std::vector<ProfileNumbers> numbers(const State& state) const;
  bool empty() const { return profiles_.empty(); }

 private:
  std::pair<std::size_t, double> factor_at(const spec::PlatformSpec::Profile& profile, double date) const;
  std::vector<spec::PlatformSpec::Profile> profiles_;
  std::vector<std::vector<ProfileNumbers>> nominal_;  ///< nominal bandwidth and latency of each profile's links
};

}  // namespace dadsim::sim
