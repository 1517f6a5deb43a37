#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "scenario/declared_hosts.hpp"
#include "scenario/host_list.hpp"
#include "scenario/quantity.hpp"
#include "scenario/read_platform.hpp"
#include "scenario/white_space.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxProfiles = 1000;
constexpr std::size_t kMaxPoints = 10000;      // of a profile
constexpr std::size_t kMaxBackground = 10000;  // flows
constexpr std::size_t kMaxLinkName = 200;      // bytes

/// The numbers of a required attribute, each as `parse` reads it; empty with a finding.
template <class Parse>
std::vector<double> read_list(const Node& node, const char* attribute, const std::string& remedy, const Parse& parse) {
  const std::optional<std::string> text = node.required_text(attribute, remedy);
  if (!text) return {};
  std::vector<double> values;
  for (const std::string& word : split_words(*text)) {
    const std::optional<double> value = parse(word);
    if (!value) {
      node.fail_at(attribute, fmt::format("holds '{}'", printable(word)), remedy);
      return {};
    }
    values.push_back(*value);
  }
  if (values.size() > kMaxPoints) {
    node.fail_at(attribute, fmt::format("holds {} numbers", values.size()), fmt::format("at most {}", kMaxPoints));
    return {};
  }
  return values;
}

spec::PlatformSpec::Profile read_profile(const Node& node, const ReadContext& context) {
  static const std::array<std::string, 2> kOf = {"bandwidth", "latency"};
  spec::PlatformSpec::Profile profile;
  profile.link = plain_name(
      node.required_text("link", "the name of a link in the platform; * at its end stands for any rest").value_or(""));
  if (profile.link.size() > kMaxLinkName) {
    node.fail_at("link", "is too long", fmt::format("at most {} bytes", kMaxLinkName));
  } else if (profile.link.find('*') < profile.link.size() - 1) {
    node.fail_at("link", "has a * before its end", "a * at the end stands for any rest");
  }
  profile.of = static_cast<spec::PlatformSpec::Profile::Of>(node.choice("of", kOf, 0));

  constexpr const char* kTimes = "seconds with their units and spaces between them, rising from 0s, e.g. 0s 60s";
  constexpr const char* kFactors = "numbers above 0 with spaces between them, one for each of the times, e.g. 1 0.5";
  profile.times = read_list(node, "times", kTimes, [&](const std::string& word) -> std::optional<double> {
    const std::optional<double> value = context.catalog.parse_unit(Catalog::Unit::seconds, word);
    return value && kLatencyForm.range.contains(*value) && *value < kLatencyForm.range.maximum ? value : std::nullopt;
  });
  profile.factors = read_list(node, "factors", kFactors, [](const std::string& word) {
    const std::optional<double> value = parse_real(word);
    return value && *value > 0 ? value : std::nullopt;
  });
  if (!profile.times.empty()) {
    if (profile.times.front() != 0) {
      node.fail_at("times", "does not start at 0", kTimes);
    } else if (std::ranges::adjacent_find(profile.times, std::greater_equal{}) != profile.times.end()) {
      node.fail_at("times", "does not rise", kTimes);
    }
    if (!profile.factors.empty() && profile.factors.size() != profile.times.size()) {
      node.fail_at("factors",
                   fmt::format("holds {} numbers for {} times", profile.factors.size(), profile.times.size()),
                   "one for each of the times");
    }
  }
  if (node.has("period")) {
    const std::optional<double> period = required_quantity(node, "period", kDurationForm, context.catalog);
    if (period && !profile.times.empty() && *period <= profile.times.back()) {
      node.fail_at("period", "is not after the last of the times", "a later time, at which the profile starts again");
    }
    profile.period = period.value_or(0);
  }
  return profile;
}

}  // namespace

std::vector<spec::PlatformSpec::Profile> read_profiles(const Node& platform, const ReadContext& context) {
  std::vector<spec::PlatformSpec::Profile> profiles;
  const std::vector<const Element*> elements = platform.children("profile");
  if (elements.size() > kMaxProfiles) {
    platform.fail(fmt::format("{} <profile>", elements.size()), fmt::format("at most {}", kMaxProfiles));
  }
  std::set<std::pair<std::string, spec::PlatformSpec::Profile::Of>> taken;
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    spec::PlatformSpec::Profile profile = read_profile(node, context);
    if (!profile.link.empty() && !taken.emplace(profile.link, profile.of).second) {
      node.fail_at("link", "has another <profile> of the same", "one for bandwidth and one for latency at most");
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::vector<spec::PlatformSpec::Background> read_background(const Node& platform, const DeclaredHosts* hosts,
                                                            const ReadContext& context) {
  std::vector<spec::PlatformSpec::Background> background;
  const std::vector<const Element*> elements = platform.children("background");
  if (elements.size() > kMaxBackground) {
    platform.fail(fmt::format("{} <background>", elements.size()), fmt::format("at most {}", kMaxBackground));
  }
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    const auto host = [&](const char* attribute) {
      std::string name = plain_name(node.required_text(attribute, "the name of a host in the platform").value_or(""));
      if (name.size() > kMaxHostName) {
        node.fail_at(attribute, "is too long", fmt::format("at most {} bytes", kMaxHostName));
      } else if (!name.empty() && hosts != nullptr && !hosts->contains(name)) {
        node.fail_at(attribute, "is no host of the platform", context.findings.full() ? "" : hosts->suggest(name));
      }
      return name;
    };
    spec::PlatformSpec::Background flow;
    flow.from = host("from");
    flow.to = host("to");
    if (!flow.from.empty() && flow.from == flow.to)
      node.fail_at("to", "is where the traffic comes from", "another host");
    flow.bytes = required_quantity(node, "bytes", kBytesForm, context.catalog).value_or(0);
    flow.every = quantity(node, "every", kDurationForm, 0, context.catalog);
    background.push_back(std::move(flow));
  }
  return background;
}

}  // namespace dadsim::scenario
