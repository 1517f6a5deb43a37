#include "sim/platform/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/platform/build_platform.hpp"
#include "sim/platform/profiles.hpp"
#include "sim/process/compat.hpp"
#include "sim/simulator.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"

namespace dadsim::sim {
namespace {

/// Settings made before the platform is loaded. They include settings equal to SimGrid's defaults, which may change
/// between versions.
constexpr std::array<std::pair<const char*, const char*>, 13> settings{{
    {"tracing", "no"},  // prevents a trace file; platforms cannot change these settings
    {"contexts/factory", compat::context_factory},
    {"contexts/nthreads", "1"},      // more threads would be slower here, and the order of events would not be fixed
    {"contexts/stack-size", "256"},  // stack of an actor, KiB
    {"network/model", "CM02"},
    {"network/bandwidth-factor", "1"},
    {"network/weight-S", "0"},
    {"network/crosstraffic", "0"},  // acknowledgements do not slow the opposite direction
    {"network/TCP-gamma", "1e20"},  // bytes of a window so large that it never limits a transfer: rate ≤ gamma / (2 ×
                                    // latency)
    {"network/loopback-bw", "1e10"},  // byte/s, between two workers on one host
    {"network/loopback-lat", "1"},    // seconds, see kUnitLatency
    {"network/optim", "Lazy"},
    {compat::timing_precision, "1e-12"},  // seconds; closer events count as simultaneous, and kernels last microseconds
}};

/// Families of ignored options, in the spelling of any version. They neither change results here nor do harm: stacks
/// and guards of contexts, models of hosts, disks and links, solvers and precisions.
constexpr std::array<std::string_view, 13> passed_over_families{
    "contexts/", "host/",      "cpu/",  "disk/",        "storage/",   "network/", "maxmin/",
    "bmf/",      "precision/", "surf/", "workstation/", "exception/", "energy/"};
/// Ignored options of SMPI, whose programs are not run here; others of its options open files.
constexpr std::array<std::string_view, 22> passed_over_options{"clean-atexit",
                                                               "verbose-exit",
                                                               "smpi/os",
                                                               "smpi/or",
                                                               "smpi/ois",
                                                               "smpi/bw-factor",
                                                               "smpi/lat-factor",
                                                               "smpi/bw_factor",
                                                               "smpi/lat_factor",
                                                               "smpi/IB-penalty-factors",
                                                               "smpi/IB_penalty_factors",
                                                               "smpi/async-small-thresh",
                                                               "smpi/async_small_thres",
                                                               "smpi/send-is-detached-thresh",
                                                               "smpi/send_is_detached_thres",
                                                               "smpi/cpu-threshold",
                                                               "smpi/cpu_threshold",
                                                               "smpi/host-speed",
                                                               "smpi/running-power",
                                                               "smpi/running_power",
                                                               "smpi/simulate-computation",
                                                               "smpi/coll-selector"};

/// Options that a platform may set. Some other options open files (tracing/…, smpi/…, path), and some load or start
/// something (plugin, cmonkey/…, debug/…, model-check/…).
struct AllowedOption {
  const char* name;
  bool whole;
  double least, most;
};
constexpr std::array<AllowedOption, 2> allowed_options{{
    {"maxmin/concurrency-limit", true, -1, 1e9},  // largest number of flows that share a link at once; −1: any number
    {"maxmin/precision", false, 1e-12, 1e-5},     // byte/s; not coarser than SimGrid's own
}};

/// Adapts the precision of dates to the slowest link. SimGrid ends a transfer when the clock reaches its date, up to
/// the precision of dates. Over very slow links, dates become so large that neighbouring numbers differ by more than
/// the precision. A clock that rounding puts one number before the date would never reach it, and the simulation would
/// stop. The precision is therefore at least the spacing of numbers near the duration of a long step over the slowest
/// link (a hundred megabytes).
void fit_precision(const simgrid::s4u::Engine& engine) {
  constexpr double kLongStep = 1e8;       // bytes of a long step
  constexpr double kOfFastLinks = 1e-12;  // seconds, as in the settings above
  double slowest = std::numeric_limits<double>::infinity();
  for (const simgrid::s4u::Link* link : engine.get_all_links()) {
    if (link->get_bandwidth() > 0) slowest = std::min(slowest, link->get_bandwidth());
  }
  const double apart = kLongStep / slowest * std::numeric_limits<double>::epsilon();
  if (apart > kOfFastLinks) simgrid::s4u::Engine::set_config(fmt::format("{}:{}", compat::timing_precision, apart));
}

}  // namespace

std::unique_ptr<simgrid::s4u::Engine> load_engine(const spec::PlatformSpec& platform,
                                                  std::span<const spec::LinkChange> changes) {
  // Sets the kind of contexts before the engine is made, which fixes it; the other settings can follow.
  std::string name = "dadsim";
  std::string quiet = "--log=root.thres:critical";
  std::string contexts = fmt::format("--cfg=contexts/factory:{}", compat::context_factory);
  std::array<char*, 4> arguments{name.data(), quiet.data(), contexts.data(), nullptr};
  int count = 3;
  auto engine = std::make_unique<simgrid::s4u::Engine>(&count, arguments.data());
  for (const auto& [option, value] : settings) simgrid::s4u::Engine::set_config(fmt::format("{}:{}", option, value));
  build_platform(platform);
  apply_link_changes(platform.changes, platform, *engine);
  apply_link_changes(changes, platform, *engine);
  apply_profiles(platform, *engine);
  engine->seal_platform();
  fit_precision(*engine);
  return engine;
}

bool is_passed_over(std::string_view option) {
  if (std::ranges::find(allowed_options, option, &AllowedOption::name) != allowed_options.end()) return false;
  return std::ranges::find(passed_over_options, option) != passed_over_options.end() ||
         std::ranges::any_of(passed_over_families, [&](std::string_view family) { return option.starts_with(family); });
}

std::optional<std::pair<std::string, std::string>> fault_of_option(std::string_view option, std::string_view value) {
  const auto pair = [](std::string what, std::string remedy) { return std::pair(std::move(what), std::move(remedy)); };
  if (is_passed_over(option)) return std::nullopt;
  const std::string shown = with_hidden_characters_shown(option);
  const auto* allowed = std::ranges::find(allowed_options, option, &AllowedOption::name);
  if (allowed == allowed_options.end()) {
    std::vector<std::string> names;
    names.reserve(std::size(allowed_options));
    for (const AllowedOption& one : allowed_options) names.emplace_back(one.name);
    return pair(fmt::format("<config> sets '{}', which a platform may not set", shown),
                fmt::format("remove it; a platform may only set {}", fmt::join(names, " and ")));
  }
  // Accepts numbers only, because SimGrid takes text after a blank or a comma for another option.
  const std::optional<double> number = parse_whole<double>(value, allowed->least, allowed->most);
  if (number && (!allowed->whole || *number == std::floor(*number))) return std::nullopt;
  return pair(fmt::format("<config> sets '{}' to '{}'", shown, with_hidden_characters_shown(value.substr(0, 60))),
              fmt::format("a {}number from {} to {}", allowed->whole ? "whole " : "", allowed->least, allowed->most));
}

std::string network_model_description() {
  return "links are shared by SimGrid (max-min fair, equal shares); latency, software and connections are added by the "
         "transport of each link";
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return patch == 0 ? fmt::format("{}.{}", major, minor) : fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace dadsim::sim
