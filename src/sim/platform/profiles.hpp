#pragma once

#include <utility>
#include <vector>

#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Hangs the profiles of a platform on the links that they name, before the platform is sealed. Throws
/// std::runtime_error where a name fits no link.
void apply_profiles(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

/// Whether it changes nothing while time passes.
bool is_steady(const spec::PlatformSpec::Profile& profile);

/// Between two changes of its profiles a network is steady: which numbers its links have when.
class SteadyStates {
 public:
  /// Of a platform that is built and has not begun.
  SteadyStates(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

  /// Per profile that changes something, which of its factors holds.
  using State = std::vector<std::size_t>;
  State at(double date) const;
  /// The first change after the date; infinity: none.
  double next(double date) const;
  /// A link that profiles change, and what it has then: byte/s, seconds.
  struct ProfileNumbers {
    simgrid::s4u::Link* link = nullptr;
    double bandwidth = 0, latency = 0;
  };
  std::vector<ProfileNumbers> numbers(const State& state) const;
  bool empty() const { return profiles_.empty(); }

 private:
  std::pair<std::size_t, double> factor_at(const spec::PlatformSpec::Profile& profile, double date) const;
  std::vector<spec::PlatformSpec::Profile> profiles_;
  std::vector<std::vector<ProfileNumbers>> nominal_;  ///< per profile
};

}  // namespace dadsim::sim
