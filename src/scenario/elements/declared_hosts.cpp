#include "scenario/elements/declared_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "scenario/language/node.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxPatterns = 1000;  // largest number of patterns that are searched for similar names, to limit
                                            // the time
constexpr std::size_t kShownPatterns = 10;

/// Returns the position of the number at the end of a name.
std::size_t number_at(std::string_view name) { return name.find_last_not_of("0123456789") + 1; }

/// Returns whether the second number is the successor of the first.
bool follows(const std::string& last, const std::string& next) {
  const std::optional<std::int64_t> before = parse_whole<std::int64_t>(last);
  const std::optional<std::int64_t> after = parse_whole<std::int64_t>(next);
  return before && after && *after == *before + 1 && next.front() != '0';
}

std::int64_t count(const spec::GpuClusterSpec& cluster) { return all_gpus(cluster); }

std::int64_t count(const spec::FederationSpec& federation) {
  std::int64_t hosts = 1;  // includes the hub
  for (const spec::FederationSpec::Sites& sites : federation.sites) hosts += sites.count;
  return hosts;
}

std::int64_t count(const spec::WanSpec& wan) {
  std::int64_t hosts = 0;
  for (const spec::WanSpec::Region& region : wan.regions) hosts += region.hosts;
  return hosts;
}

std::int64_t count(const spec::CompositionSpec& composition) {
  std::int64_t hosts = 0;
  for (const auto& cluster : composition.clusters) {
    hosts += std::visit([](const auto& one) { return count(one); }, cluster);
  }
  return hosts;
}

std::int64_t count(const spec::PlatformFileSpec& /*file*/) { return 0; }

}  // namespace

DeclaredHosts::DeclaredHosts(const spec::PlatformSpec& platform) {
  for (std::string& name : host_names(platform)) {
    const std::size_t at = number_at(name);
    std::string stem = name.substr(0, at);
    std::string number = name.substr(at);
    if (!patterns_.empty() && patterns_.back().stem == stem && follows(patterns_.back().last, number)) {
      patterns_.back().last = std::move(number);
    } else {
      patterns_.push_back({std::move(stem), number, number});
    }
    const auto [at_name, added] = names_.insert(std::move(name));
    if (!added && twice_.empty()) twice_ = *at_name;
  }
}

std::string DeclaredHosts::Pattern::to_string() const {
  return first == last ? stem + first : fmt::format("{}[{}-{}]", stem, first, last);
}

std::string DeclaredHosts::suggest(std::string_view host) const {
  if (patterns_.size() <= kMaxPatterns) {
    // Searches similar spellings only of the part before the number.
    const std::size_t at = number_at(host);
    std::vector<std::string> candidates;
    for (const Pattern& pattern : patterns_) {
      std::string same_number = pattern.stem + std::string(host.substr(at));
      const bool exists = contains(same_number);
      if (exists) candidates.push_back(std::move(same_number));
      if (pattern.first == pattern.last && !exists) candidates.push_back(pattern.stem + pattern.first);
    }
    const std::string near = closest(host, candidates);
    if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  }
  std::string text = "hosts are";
  for (std::size_t i = 0; i < std::min(patterns_.size(), kShownPatterns); ++i) text += " " + patterns_[i].to_string();
  return patterns_.size() > kShownPatterns ? text + " …" : text;
}

std::int64_t count_hosts(const spec::PlatformSpec& platform) {
  return std::visit([](const auto& what) { return count(what); }, platform.what);
}

}  // namespace dadsim::scenario
