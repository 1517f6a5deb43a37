#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "scenario/elements/declared_hosts.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read_platform.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxProfiles = 1000;
constexpr std::size_t kMaxPoints = 10000;      // largest number of points per profile
constexpr std::size_t kMaxBackground = 10000;  // largest number of flows of background traffic
constexpr std::size_t kMaxLinkName = 200;      // longest name of a link, bytes

std::string times_text(const spec::PlatformSpec::Profile& profile, const PathText&) {
  std::string times;
  for (const double time : profile.times) times += fmt::format("{}{}s", times.empty() ? "" : " ", time);
  return times;
}

std::string factors_text(const spec::PlatformSpec::Profile& profile, const PathText&) {
  return fmt::format("{}", fmt::join(profile.factors, " "));
}

const Table<spec::LinkChange>& change_table() {
  using Spec = spec::LinkChange;
  static const Table<Spec> kTable =
      Table<Spec>(
          "change", "Changes the speed of links of a platform file.",
          {attribute("link", &Spec::link, text("link names, with * for any characters, or a class of links")).must(),
           attribute("bandwidth-factor", &Spec::bandwidth_factor,
                     real({.minimum = 0, .maximum = 1e9, .open_minimum = true})),
           attribute("latency-factor", &Spec::latency_factor, real({.minimum = 0, .maximum = 1e9}))})
          .repeats();
  return kTable;
}

const Table<spec::PlatformSpec::Profile>& profile_table() {
  using Spec = spec::PlatformSpec::Profile;
  static const Table<Spec> kTable =
      Table<Spec>("profile", "Changes of a link over time.",
                  {attribute("link", &Spec::link, text()).must().by_reader(), attribute("of", &Spec::of),
                   by_code<Spec>(attribute("times", text()).must(), {}, times_text),
                   by_code<Spec>(attribute("factors", text()).must(), {}, factors_text),
                   attribute("period", &Spec::period, quantity(kDurationForm)).if_given().if_left_out("not repeated")})
          .repeats();
  return kTable;
}

const Table<spec::PlatformSpec::Background>& background_table() {
  using Spec = spec::PlatformSpec::Background;
  static const Table<Spec> kTable =
      Table<Spec>("background", "Background traffic: messages from one host to another from the start on.",
                  {attribute("from", &Spec::from, text()).must().by_reader(),
                   attribute("to", &Spec::to, text()).must().by_reader(),
                   attribute("bytes", &Spec::bytes, quantity(kBytesForm)).must(),
                   attribute("every", &Spec::every, quantity(kDurationForm))
                       .if_given()
                       .if_left_out("one message at a time, each after the previous message")})
          .repeats();
  return kTable;
}

/// Returns the numbers of a required attribute, each read by `parse`; empty with a finding.
template <class Parse>
std::vector<double> read_list(const Node& node, const char* attribute, const std::string& remedy, const Parse& parse) {
  const std::optional<std::string> text = node.required_text(attribute, remedy);
  if (!text) return {};
  std::vector<double> values;
  for (const std::string& word : words_of(*text)) {
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
  spec::PlatformSpec::Profile profile;
  profile.link =
      plain_name(node.required_text("link", "the name of a link in the platform, or its beginning and *").value_or(""));
  if (profile.link.size() > kMaxLinkName) {
    node.fail_at("link", "is too long", fmt::format("at most {} bytes", kMaxLinkName));
  } else if (profile.link.find('*') < profile.link.size() - 1) {
    node.fail_at("link", "has a * before its end", "use * at the end only, where it stands for any characters");
  }

  constexpr const char* kTimes = "seconds with units and spaces between them, rising from 0s, e.g. 0s 60s";
  constexpr const char* kFactors = "numbers above 0 with spaces between them, one per time, e.g. 1 0.5";
  profile.times = read_list(node, "times", kTimes, [&](const std::string& word) -> std::optional<double> {
    const std::optional<double> value = parse_quantity(Unit::seconds, word);
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
                   "give one for each of the times");
    }
  }
  profile_table().read(node, context, profile);
  if (profile.period > 0 && !profile.times.empty() && profile.period <= profile.times.back())
    node.fail_at("period", "must be later than the last of 'times'", "use a later time; the profile then starts again");
  return profile;
}

}  // namespace

std::vector<spec::LinkChange> read_changes(const Node& platform, const ReadContext& context) {
  std::vector<spec::LinkChange> changes;
  for (const Element* element : platform.children("change")) {
    changes.push_back(change_table().read(*element, context));
    changes.back().link = plain_name(changes.back().link);
  }
  return changes;
}

std::vector<spec::PlatformSpec::Profile> read_profiles(const Node& platform, const ReadContext& context) {
  std::vector<spec::PlatformSpec::Profile> profiles;
  const std::vector<const Element*> elements = platform.children("profile");
  if (elements.size() > kMaxProfiles) platform.children("profile", kMaxProfiles);
  std::set<std::pair<std::string, spec::PlatformSpec::Profile::Of>> taken;
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    spec::PlatformSpec::Profile profile = read_profile(node, context);
    if (!profile.link.empty() && !taken.emplace(profile.link, profile.of).second) {
      node.fail_at("link", "has another <profile> of the same kind",
                   "use at most one for bandwidth and one for latency");
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::vector<spec::PlatformSpec::Background> read_background(const Node& platform, const spec::PlatformSpec& given,
                                                            const DeclaredHosts* hosts, const ReadContext& context) {
  std::vector<spec::PlatformSpec::Background> background;
  const std::vector<const Element*> elements = platform.children("background");
  if (elements.size() > kMaxBackground) platform.children("background", kMaxBackground);
  std::vector<std::string> of_file;
  const bool is_file = std::holds_alternative<spec::PlatformFileSpec>(given.what);
  if (is_file && !elements.empty() && context.catalog.hosts_of_platform)
    of_file = context.catalog.hosts_of_platform(given);
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    const auto host = [&](const char* attribute) {
      std::string name = plain_name(node.required_text(attribute, "the name of a host in the platform").value_or(""));
      if (name.size() > kMaxHostName) {
        node.fail_at(attribute, "is too long", fmt::format("at most {} bytes", kMaxHostName));
      } else if (!name.empty() && hosts != nullptr && !hosts->contains(name)) {
        node.fail_at(attribute, "is no host of the platform", context.findings.full() ? "" : hosts->suggest(name));
      } else if (!name.empty() && !of_file.empty() && std::ranges::find(of_file, name) == of_file.end()) {
        node.fail_at(attribute, "is no host of the platform", context.findings.suggest(name, of_file));
      }
      return name;
    };
    spec::PlatformSpec::Background flow;
    flow.from = host("from");
    flow.to = host("to");
    if (!flow.from.empty() && flow.from == flow.to)
      node.fail_at("to", "is also the source of the traffic", "use another host");
    background_table().read(node, context, flow);
    background.push_back(std::move(flow));
  }
  return background;
}

void write_variation(XmlWriter& xml, const spec::PlatformSpec& platform) {
  for (const spec::LinkChange& change : platform.changes) change_table().print(xml, change, {});
  for (const spec::PlatformSpec::Profile& profile : platform.profiles) profile_table().print(xml, profile, {});
  for (const spec::PlatformSpec::Background& flow : platform.background) background_table().print(xml, flow, {});
}

std::vector<ElementRule> variation_rules() {
  return {profile_table().rule(), change_table().rule(), background_table().rule()};
}

}  // namespace dadsim::scenario
