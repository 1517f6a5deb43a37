#include "report/run/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>

namespace dadsim::report {
namespace {

constexpr double kLeastNamed = 0.005;   // share of the step; smaller parts are not named in a sentence
constexpr double kLeastOverlap = 0.01;  // share of the step; the short form names overlap of at least this share
constexpr std::size_t kMostPartsNamed = 3;

}  // namespace

std::string name_of(const Cause::Part& part) {
  return part.device.empty() ? part.pattern : fmt::format("{} ({})", part.pattern, part.device);
}

std::string resources_in_words(const Cause& cause, const Cause::Part& part) {
  const bool of_links = cause.kind == "bandwidth" || cause.kind == "queueing";
  const std::string name = name_of(part);
  if (part.resources == 1) return of_links ? "link " + name : name;
  const char* noun = cause.kind == "compute"     ? "devices"
                     : cause.kind == "framework" ? "nodes"
                     : cause.kind == "latency"   ? "routes"
                                                 : "links";
  return fmt::format("{} {} {}", part.resources, noun, name);
}

std::string name_of_link(const std::string& direction) {
  for (const std::string_view suffix : {"_UP", "_DOWN"}) {
    if (direction.ends_with(suffix)) return direction.substr(0, direction.size() - suffix.size());
  }
  return direction;
}

std::string with_numbers_open(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return pattern;
}

std::vector<Cause> causes_of(const RunResult& run) {
  std::vector<Cause> causes;
  std::map<std::array<std::string, 3>, std::string> first;  // by kind, pattern and device
  for (const step::Bound& bound : run.bounds) {
    auto cause = std::ranges::find(causes, bound.kind, &Cause::kind);
    if (cause == causes.end()) {
      causes.push_back({bound.kind, 0, 0, {}});
      cause = std::prev(causes.end());
    }
    cause->seconds += bound.seconds;
    cause->share += bound.share;
    if (bound.resource.empty()) continue;
    const std::string pattern = with_numbers_open(bound.resource);
    auto part = std::ranges::find_if(
        cause->parts, [&](const Cause::Part& one) { return one.pattern == pattern && one.device == bound.device; });
    if (part == cause->parts.end()) {
      cause->parts.push_back({pattern, bound.device, 0, 0, 0});
      part = std::prev(cause->parts.end());
      first[{bound.kind, pattern, bound.device}] = bound.resource;
    }
    ++part->resources;
    part->seconds += bound.seconds;
    part->share += bound.share;
  }
  for (Cause& cause : causes) {
    std::ranges::stable_sort(cause.parts, std::greater<>(), &Cause::Part::seconds);
    for (Cause::Part& part : cause.parts) {
      if (part.resources == 1) part.pattern = first.at({cause.kind, part.pattern, part.device});
    }
  }
  std::ranges::stable_sort(causes, std::greater<>(), &Cause::seconds);
  return causes;
}

std::string in_words(const Cause& cause, const Cause::Part& part) {
  return fmt::format("{} {} {}", cause_in_words(cause.kind), cause.kind == "compute" ? "on" : "of",
                     resources_in_words(cause, part));
}

std::string causes_in_short(const RunResult& run, CausesNamed named) {
  std::string text;
  for (const Cause& cause : causes_of(run)) {
    if (!text.empty() && cause.share < (cause.kind == "overlap" ? kLeastOverlap : kLeastNamed)) continue;
    const bool on = named == CausesNamed::each || (named == CausesNamed::first && text.empty());
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share_in_words(cause.share), cause_in_words(cause.kind));
    if (!on || cause.parts.empty()) continue;
    const Cause::Part& most = cause.parts.front();
    text += fmt::format(" ({}{})", resources_in_words(cause, most),
                        cause.parts.size() > 1 ? " " + share_in_words(most.share) : "");
  }
  return text;
}

std::string causes_in_words(const RunResult& run) {
  std::string text;
  for (const Cause& cause : causes_of(run)) {
    if (!(cause.seconds > 0)) continue;
    text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", share_in_words(cause.share),
                        text.empty() ? " of the step was" : "", cause_in_words(cause.kind));
    std::string parts;
    std::size_t named = 0;
    for (const Cause::Part& part : cause.parts) {
      if (part.share < kLeastNamed || named++ == kMostPartsNamed) break;
      parts += fmt::format("{}{}", parts.empty() ? "" : ", ", resources_in_words(cause, part));
      if (cause.parts.size() > 1) parts += ' ' + share_in_words(part.share);
    }
    if (!parts.empty()) text += fmt::format(" ({})", parts);
  }
  return text;
}

}  // namespace dadsim::report
