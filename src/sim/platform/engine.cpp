#include "sim/platform/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/platform/build/build.hpp"
#include "sim/platform/compat.hpp"
#include "sim/platform/profiles.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {
namespace {

/// Set before the platform is loaded, all of them also where SimGrid's default is the same: defaults change between
/// versions.
constexpr std::array<std::pair<const char*, const char*>, 12> settings{{
    {"contexts/factory", compat::context_factory},
    {"contexts/nthreads", "1"},      // more threads are slower here, and the order of events is no longer fixed
    {"contexts/stack-size", "256"},  // KiB
    {"network/model", "CM02"},
    {"network/bandwidth-factor", "1"},
    {"network/weight-S", "0"},
    {"network/crosstraffic", "0"},    // acknowledgements do not slow the opposite direction
    {"network/TCP-gamma", "1e20"},    // bytes; a window that never limits: rate ≤ gamma / (2 × latency)
    {"network/loopback-bw", "1e10"},  // byte/s, between two workers on one host
    {"network/loopback-lat", "1"},    // seconds, see unit_latency
    {"network/optim", "Lazy"},
    {compat::timing_precision,
     "1e-12"},  // seconds; events nearer than this count as one, and kernels last microseconds
}};

}  // namespace

std::unique_ptr<simgrid::s4u::Engine> load_engine(const spec::PlatformSpec& platform,
                                                  std::span<const spec::LinkChange> changes) {
  // The kind of contexts is settled when the engine is made; the other settings can follow.
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
  return engine;
}

bool is_own_setting(std::string_view option) {
  // Latency factors are not set, because the connections delay every transfer in their place.
  if (option == "network/latency-factor") return true;
  return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == option; });
}

std::string simgrid_words(std::string_view output) {
  static const std::regex prefix(R"(^\[[^\]]*\]\s+(\S+:\d+:\s+)?(\[[^\]]*\]\s*)?)");
  static const std::regex noise(R"(^\s*(backtrace|->|=>|#\d|at 0x))", std::regex::icase);
  std::istringstream lines{std::string(output)};
  std::string words;
  std::vector<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, prefix, "");
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    if (line.empty() || std::regex_search(line, noise) || std::ranges::count(seen, line) > 0) continue;
    if (words.size() + line.size() > 2000) break;
    if (!words.empty()) words += "; ";
    words += line;
    seen.push_back(line);
  }
  return words;
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
