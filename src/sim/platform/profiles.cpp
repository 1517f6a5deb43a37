#include "sim/platform/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <stdexcept>
#include <string_view>

#include "support/diagnostics.hpp"

namespace dadsim::sim {
namespace {

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

/// SimGrid's profiles hold absolute values: byte/s or seconds. A link without latency gets one that is next to nothing:
/// transfers share links by 1 / latency where latencies change (Interconnect::kTrifle).
std::string text_of(const spec::PlatformSpec::Profile& profile, double nominal) {
  constexpr double kLeast = 1e-9;  // no bandwidth is as little
  std::string text;
  for (std::size_t i = 0; i < profile.times.size(); ++i) {
    text += fmt::format("{} {}\n", profile.times[i], std::max(profile.factors[i] * nominal, kLeast));
  }
  if (profile.period > 0) text += fmt::format("LOOPAFTER {}\n", profile.period - profile.times.back());
  return text;
}

}  // namespace

void apply_profiles(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine) {
  int serial = 0;
  for (const spec::PlatformSpec::Profile& profile : platform.profiles) {
    bool used = false;
    std::vector<std::string> names;
    for (simgrid::s4u::Link* link : engine.get_all_links()) {
      if (link->get_name() == "__loopback__") continue;  // SimGrid's own, which is sealed
      names.push_back(link->get_name());
      if (!fits(profile.link, link->get_name())) continue;
      used = true;
      const bool bandwidth = profile.of == spec::PlatformSpec::Profile::Of::bandwidth;
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
