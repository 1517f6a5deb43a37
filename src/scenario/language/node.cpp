#include "scenario/language/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "scenario/language/quantity.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"
#include "support/text_encoding.hpp"

namespace dadsim::scenario {
namespace {

/// Returns whether a number is outside the range of double.
bool is_too_large_or_small(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range && end == text.data() + text.size();
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string whole_number_remedy(std::int64_t minimum, std::int64_t maximum) {
  return fmt::format("a whole number from {} to {}", minimum, maximum);
}

/// Returns whether the attribute is a hint for editors on the root element: the schema's location.
bool is_editor_hint(std::string_view attribute) {
  return attribute == "xmlns:xsi" || attribute == "xsi:noNamespaceSchemaLocation";
}

/// Returns the rule of an element. For an unknown name, which its parent has reported, returns an empty rule, so that
/// no further errors follow.
const ElementRule& rule_of(const Element& element) {
  static const ElementRule kNoRule{};
  const ElementRule* known = find_rule(element.name);
  return known == nullptr ? kNoRule : *known;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  const std::optional<double> value = parse_whole<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

Node::Node(const Element& element, Findings& findings)
    : element_(element), rule_(rule_of(element)), findings_(findings) {
  if (rule_.name.empty()) return;
  check_attributes();
  check_children();
  if (!rule_.text && element_.text_origin.line > 0) {
    const std::vector<std::string> found = words_of(element_.text);
    const std::string typed = remedy_for_characters(element_.text);
    findings_.add(element_.text_origin,
                  fmt::format("text '{}' in <{}>", printable(fmt::format("{}", fmt::join(found, " "))), element_.name),
                  !typed.empty()           ? typed
                  : rule_.children.empty() ? fmt::format("<{}> holds attributes alone", element_.name)
                                           : "use elements only");
  }
}

void Node::check_attributes() const {
  for (const Attribute& attribute : element_.attributes) {
    if (rule_.find(attribute.name) != nullptr) continue;
    if (rule_.root && is_editor_hint(attribute.name)) continue;
    if (attribute.name.starts_with("xmlns") || attribute.name.find(':') != std::string::npos) {
      findings_.add(attribute.origin, fmt::format("'{}' on <{}>", printable(attribute.name), element_.name),
                    "remove it: the language has no namespace");
    } else if (rule_.parameters.empty()) {
      const std::string near = findings_.suggest(attribute.name, rule_.attribute_names());
      findings_.add(attribute.origin,
                    fmt::format("unknown attribute '{}' of <{}>", printable(attribute.name), element_.name),
                    near.empty() ? fmt::format("<{}> has no attributes", element_.name) : near);
    }
  }
}

void Node::check_children() const {
  std::set<std::string_view> seen;
  for (const Element& child : element_.children) {
    if (child.in_namespace || child.name.find(':') != std::string::npos) {
      findings_.add(child.origin, fmt::format("<{}> is in a namespace", printable(child.name)),
                    "remove it: the language has no namespace");
      continue;
    }
    if (std::ranges::find(rule_.children, child.name) == rule_.children.end()) {
      std::string near = findings_.suggest(child.name, rule_.children);
      if (near.empty()) near = fmt::format("<{}> holds no elements", element_.name);
      findings_.add(child.origin, fmt::format("unknown element <{}> in <{}>", printable(child.name), element_.name),
                    near);
      continue;
    }
    if (!seen.insert(child.name).second && !find_rule(child.name)->repeatable) {
      findings_.add(child.origin, fmt::format("a second <{}> in <{}>", child.name, element_.name), "at most one");
    }
  }
}

Origin Node::origin(std::string_view attribute) const {
  const Attribute* found = element_.find(attribute);
  return found == nullptr ? element_.origin : found->origin;
}

void Node::missing(std::string_view attribute, const std::string& remedy) const {
  fail(fmt::format("<{}> lacks '{}'", element_.name, attribute), remedy);
}

void Node::fail_at(std::string_view attribute, std::string_view what, std::string remedy) const {
  fail_at(attribute, Fault{std::string(what), std::move(remedy)});
}

void Node::fail_at(std::string_view attribute, Fault fault) const {
  const Attribute* found = element_.find(attribute);
  const std::string value = found == nullptr ? "" : fmt::format("=\"{}\"", printable(found->value));
  const bool is_title = attribute == "name" || attribute == "label";
  if (found != nullptr && !is_title && !fault.remedy.starts_with("write ") && !fault.remedy.ends_with('?')) {
    if (std::string plain = remedy_for_characters(found->value); !plain.empty()) fault.remedy = std::move(plain);
  }
  fault.what = element_.name.empty() ? fmt::format("{} '{}' {}", attribute, printable(found->value), fault.what)
                                     : fmt::format("{}{} of <{}> {}", attribute, value, element_.name, fault.what);
  findings_.add(origin(attribute), std::move(fault));
}

std::optional<std::string> Node::required_text(std::string_view attribute, const std::string& remedy) const {
  const Attribute* found = element_.find(attribute);
  if (found == nullptr) {
    missing(attribute, remedy);
    return std::nullopt;
  }
  if (words_of(found->value).empty()) {
    fail_at(attribute, "is empty", remedy);
    return std::nullopt;
  }
  return found->value;
}

std::string Node::text(std::string_view attribute, const std::string& fallback) const {
  const Attribute* found = element_.find(attribute);
  return found == nullptr ? fallback : found->value;
}

std::optional<std::int64_t> Node::integer(std::string_view attribute, std::int64_t minimum,
                                          std::int64_t maximum) const {
  const Attribute* found = element_.find(attribute);
  if (found == nullptr) {
    missing(attribute, whole_number_remedy(minimum, maximum));
    return std::nullopt;
  }
  const auto parse = [&](const std::string& text) { return parse_whole<std::int64_t>(text, minimum, maximum); };
  if (const std::optional<std::int64_t> value = parse(found->value)) return value;
  const bool whole = is_whole_number(found->value);
  const std::string meant = remedy_for_number(found->value, [&](const auto& text) { return parse(text).has_value(); });
  fail_at(attribute, whole ? "is out of range" : kNotWhole,
          whole || meant.empty() ? whole_number_remedy(minimum, maximum) : meant);
  return std::nullopt;
}

std::int64_t Node::integer(std::string_view attribute, std::int64_t minimum, std::int64_t maximum,
                           std::int64_t fallback) const {
  return has(attribute) ? integer(attribute, minimum, maximum).value_or(fallback) : fallback;
}

std::optional<double> Node::real(std::string_view attribute, const Range& range) const {
  const Attribute* found = element_.find(attribute);
  const std::string remedy = "a number " + range.to_string();
  if (found == nullptr) {
    missing(attribute, remedy);
    return std::nullopt;
  }
  const std::optional<double> value = parse_real(found->value);
  if (value && range.contains(*value)) return value;
  const bool number = value || is_too_large_or_small(found->value);
  const std::string meant = remedy_for_number(found->value, [&](const std::string& text) {
    const std::optional<double> other = parse_real(text);
    return other && range.contains(*other);
  });
  fail_at(attribute, number ? "is out of range" : "is not a number", number || meant.empty() ? remedy : meant);
  return std::nullopt;
}

double Node::real(std::string_view attribute, const Range& range, double fallback) const {
  return has(attribute) ? real(attribute, range).value_or(fallback) : fallback;
}

std::optional<std::int64_t> Node::integer(std::string_view attribute) const {
  const Range& range = rule_.find(attribute)->kind.range;
  return integer(attribute, static_cast<std::int64_t>(range.minimum), static_cast<std::int64_t>(range.maximum));
}

std::optional<double> Node::real(std::string_view attribute) const {
  return real(attribute, rule_.find(attribute)->kind.range);
}

std::vector<std::int64_t> Node::integers(std::string_view attribute, std::int64_t minimum, std::int64_t maximum) const {
  const std::string remedy = fmt::format("whole numbers from {} to {} with spaces between them", minimum, maximum);
  const std::optional<std::string> all = required_text(attribute, remedy);
  std::vector<std::int64_t> values;
  if (!all) return values;
  for (const std::string& word : words_of(*all)) {
    const std::optional<std::int64_t> value = parse_whole<std::int64_t>(word);
    if (!value || *value < minimum || *value > maximum) {
      fail_at(attribute, fmt::format("holds '{}'", printable(word)), remedy);
      return {};
    }
    values.push_back(*value);
  }
  return values;
}

bool Node::boolean(std::string_view attribute, bool fallback) const {
  static const std::vector<std::string> kChoices = {"false", "true"};
  return choice(attribute, kChoices, fallback ? 1 : 0) == 1;
}

std::size_t Node::choice(std::string_view attribute, std::span<const std::string> choices, std::size_t fallback) const {
  const Attribute* found = element_.find(attribute);
  if (found == nullptr) return fallback;
  const auto chosen = std::ranges::find(choices, found->value);
  if (chosen != choices.end()) return static_cast<std::size_t>(chosen - choices.begin());
  fail_at(attribute, "is unknown", findings_.suggest(found->value, choices));
  return fallback;
}

std::size_t Node::chosen(std::string_view attribute) const {
  return choice(attribute, rule_.find(attribute)->kind.names, 0);
}

const Element* Node::child(std::string_view name) const {
  const auto found = std::ranges::find(element_.children, name, &Element::name);
  return found == element_.children.end() ? nullptr : &*found;
}

const Element* Node::required_child(std::string_view name, const std::string& remedy) const {
  const Element* found = child(name);
  if (found == nullptr) fail(fmt::format("<{}> lacks <{}>", element_.name, name), remedy);
  return found;
}

std::vector<const Element*> Node::children(std::string_view name) const {
  std::vector<const Element*> result;
  for (const Element& child : element_.children) {
    if (child.name == name) result.push_back(&child);
  }
  return result;
}

std::vector<const Element*> Node::children(std::string_view name, std::size_t most) const {
  std::vector<const Element*> all = children(name);
  if (all.size() > most) {
    fail(fmt::format("{} <{}>", all.size(), name), fmt::format("at most {}", most));
    all.resize(most);
  }
  return all;
}

void Node::refuse(std::string_view attribute, const std::string& because, const std::string& remedy) const {
  if (has(attribute)) fail_at(attribute, because, remedy);
}

}  // namespace dadsim::scenario
