#include "sim/platform/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <stdexcept>
#include <string_view>

#include "support/diagnostics.hpp"

namespace dadsim::sim {
namespace {

constexpr double kNoBandwidth = 1e-9;  // byte/s, SimGrid's least bandwidth

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

/// Returns a profile in SimGrid's form with absolute values: byte/s or seconds. A link without latency gets a tiny
/// latency, because transfers share links by 1 / latency if latencies change (Interconnect::kTrifle).
std::string text_of(const spec::PlatformSpec::Profile& profile, double nominal) {
  std::string text;
  for (std::size_t i = 0; i < profile.times.size(); ++i) {
    text += fmt::format("{} {}\n", profile.times[i], std::max(profile.factors[i] * nominal, kNoBandwidth));
  }
  if (profile.period > 0) text += fmt::format("LOOPAFTER {}\n", profile.period - profile.times.back());
  return text;
}

}  // namespace

bool is_steady(const spec::PlatformSpec::Profile& profile) {
  return std::ranges::all_of(profile.factors, [&](double factor) { return factor == profile.factors.front(); });
}

SteadyStates::SteadyStates(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine) {
  for (const spec::PlatformSpec::Profile& profile : platform.profiles) {
    if (is_steady(profile)) continue;
    profiles_.push_back(profile);
    std::vector<ProfileNumbers>& links = nominal_.emplace_back();
    for (simgrid::s4u::Link* link : engine.get_all_links()) {
      if (fits(profile.link, link->get_name())) links.push_back({link, link->get_bandwidth(), link->get_latency()});
    }
  }
}

std::pair<std::size_t, double> SteadyStates::factor_at(const spec::PlatformSpec::Profile& profile, double date) const {
  // Treats a change that is nearer than the precision of dates as past.
  constexpr double kTrue = 1e-9;
  const double begun = profile.period > 0 ? profile.period * std::floor(date / profile.period + kTrue) : 0;
  const double within = date - begun + kTrue * std::max(1.0, date);
  const auto after = std::ranges::upper_bound(profile.times, within);
  const auto place = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, after - profile.times.begin()) - 1);
  if (after != profile.times.end()) return {place, begun + *after};
  return {place, profile.period > 0 ? begun + profile.period : std::numeric_limits<double>::infinity()};
}

SteadyStates::State SteadyStates::at(double date) const {
  State state;
  for (const spec::PlatformSpec::Profile& profile : profiles_) state.push_back(factor_at(profile, date).first);
  return state;
}

double SteadyStates::next(double date) const {
  double next = std::numeric_limits<double>::infinity();
  for (const spec::PlatformSpec::Profile& profile : profiles_) next = std::min(next, factor_at(profile, date).second);
  return next;
}

std::vector<SteadyStates::ProfileNumbers> SteadyStates::numbers(const State& state) const {
  std::vector<ProfileNumbers> all;
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    const double factor = profiles_[i].factors[state[i]];
    const bool of_bandwidth = profiles_[i].of == spec::PlatformSpec::Profile::Of::bandwidth;
    for (const ProfileNumbers& nominal : nominal_[i]) {
      auto known = std::ranges::find(all, nominal.link, &ProfileNumbers::link);
      if (known == all.end()) known = all.insert(known, nominal);
      if (of_bandwidth) known->bandwidth = std::max(factor * nominal.bandwidth, kNoBandwidth);
      if (!of_bandwidth) known->latency = factor * nominal.latency;
    }
  }
  return all;
}

void apply_profiles(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine) {
  int serial = 0;
  for (const spec::PlatformSpec::Profile& profile : platform.profiles) {
    bool used = false;
    std::vector<std::string> names;
    for (simgrid::s4u::Link* link : engine.get_all_links()) {
      if (link->get_name() == "__loopback__") continue;  // skips SimGrid's own link, which is sealed
      names.push_back(link->get_name());
      if (!fits(profile.link, link->get_name())) continue;
      used = true;
      const bool bandwidth = profile.of == spec::PlatformSpec::Profile::Of::bandwidth;
      if (is_steady(profile)) {
        if (bandwidth) link->set_bandwidth(link->get_bandwidth() * profile.factors.front());
        if (!bandwidth) link->set_latency(link->get_latency() * profile.factors.front());
        continue;
      }
      auto* changes = simgrid::kernel::profile::ProfileBuilder::from_string(
          fmt::format("profile {} of {}", ++serial, link->get_name()),
          text_of(profile, bandwidth ? link->get_bandwidth() : link->get_latency()), -1);
      if (bandwidth) {
        link->set_bandwidth_profile(changes);
      } else {
        link->set_latency_profile(changes);
      }
    }
    if (!used) {
      throw std::runtime_error(fmt::format("a profile is for the link '{}', which is not in the platform; {}",
                                           profile.link, suggestion(profile.link, names)));
    }
  }
}

}  // namespace dadsim::sim
