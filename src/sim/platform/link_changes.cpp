#include "sim/platform/link_changes.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/platform/platform_text.hpp"
#include "sim/process/compat.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::sim {

/// Returns the property of the link or of its full-duplex link. SimGrid names the directions of such a link NAME_UP and
/// NAME_DOWN, and stores the properties at NAME.
const char* property_of(const simgrid::s4u::Link* link, const char* key) {
  if (const char* own = link->get_property(key)) return own;
  std::string name = link->get_name();
  for (const std::string_view ending : {"_UP", "_DOWN"}) {
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    try {
      return simgrid::s4u::SplitDuplexLink::by_name(name)->get_property(key);
    } catch (const std::exception&) {
      return nullptr;  // the name only looks like a direction
    }
  }
  return nullptr;
}

namespace {

constexpr std::string_view kLoopback = "__loopback__";  // SimGrid's own link from a host to itself

void check_factors(const spec::LinkChange& change) {
  const double bandwidth = change.bandwidth_factor;
  const double latency = change.latency_factor;
  if (!(bandwidth > 0) || !std::isfinite(bandwidth)) {
    throw std::runtime_error(fmt::format(
        "the bandwidth of the link '{}' cannot be multiplied by {}; use a number above 0", change.link, bandwidth));
  }
  if (!(latency >= 0) || !std::isfinite(latency)) {
    throw std::runtime_error(fmt::format(
        "the latency of the link '{}' cannot be multiplied by {}; use a number from 0 on", change.link, latency));
  }
}

/// Returns all names and classes of links that a change may use.
std::vector<std::string> names_of_links(const simgrid::s4u::Engine& engine) {
  std::set<std::string> names;
  for (const simgrid::s4u::Link* link : engine.get_all_links()) {
    if (link->get_name() == kLoopback) continue;
    names.insert(link->get_name());
    const char* link_class = property_of(link, "class");
    if (link_class != nullptr && *link_class != '\0') names.insert(link_class);
  }
  return {names.begin(), names.end()};
}

}  // namespace

void apply_link_changes(std::span<const spec::LinkChange> changes, const spec::PlatformSpec& platform,
                        const simgrid::s4u::Engine& engine) {
  if (changes.empty()) return;
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  const bool has_own_profiles = file != nullptr && file_varies_over_time(file->path);
  for (const spec::LinkChange& change : changes) {
    check_factors(change);
    bool used = false;
    for (simgrid::s4u::Link* link : engine.get_all_links()) {
      const std::string& name = link->get_name();
      if (name == kLoopback) continue;
      // Compares names first, which is quicker than reading classes; changes are made again for every simulation.
      if (change.link != name && ::fnmatch(change.link.c_str(), name.c_str(), 0) != 0) {
        const char* link_class = property_of(link, "class");
        if (link_class == nullptr || change.link != link_class) continue;
      }
      used = true;
      if (change.bandwidth_factor == 1 && change.latency_factor == 1) continue;
      if (has_own_profiles) {
        throw std::runtime_error(
            fmt::format("the link '{}' cannot be changed: the platform file {} has profiles, "
                        "which hold absolute numbers; remove them, or change the numbers there",
                        name, file->path));
      }
      link->set_bandwidth(change.bandwidth_factor * link->get_bandwidth());
      link->set_latency(change.latency_factor * link->get_latency());
    }
    if (used) continue;
    throw std::runtime_error(fmt::format("there is no link and no class of links '{}' to change; {}", change.link,
                                         suggestion(change.link, names_of_links(engine))));
  }
}

}  // namespace dadsim::sim
