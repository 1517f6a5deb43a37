#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "scenario/language/node.hpp"
#include "scenario/language/quantity.hpp"
#include "spec/names.hpp"

// Conversion of attributes' texts to C++ values and back, as their rules require.

namespace dadsim::scenario {

/// Reads an unsigned whole number of 64 bits; returns nullopt, with a finding, for another text.
std::optional<std::uint64_t> read_seed(const Node& node, const std::string& attribute);
/// Reads a number of steps, or 0 for the alternative word; returns nullopt, with a finding, for another text.
std::optional<std::int64_t> read_word_or_count(const Node& node, const AttributeRule& rule);
/// Reads a text; returns nullopt, with a finding, if it is empty and must not be.
std::optional<std::string> read_text(const Node& node, const AttributeRule& rule);

/// Reads the value; nullopt with a finding if it is wrong or missing.
template <class Value>
std::optional<Value> read_value(const Node& node, const AttributeRule& rule) {
  const Kind& kind = rule.kind;
  const auto whole = [&](double bound) { return static_cast<std::int64_t>(bound); };
  if constexpr (std::is_same_v<Value, bool>) {
    const std::size_t chosen = node.choice(rule.name, kind.names, kind.names.size());
    return chosen == kind.names.size() ? std::nullopt : std::optional(chosen == 1);
  } else if constexpr (std::is_enum_v<Value>) {
    if (!kind.form.empty() && !node.required_text(rule.name, kind.form)) return std::nullopt;
    const std::size_t chosen = node.choice(rule.name, kind.names, kind.names.size());
    return chosen == kind.names.size() ? std::nullopt : spec::parse<Value>(kind.names[chosen]);
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    return read_seed(node, rule.name);
  } else if constexpr (std::is_integral_v<Value>) {
    const std::optional<std::int64_t> number =
        kind.of == Kind::Of::word_or_count
            ? read_word_or_count(node, rule)
            : node.integer(rule.name, whole(kind.range.minimum), whole(kind.range.maximum));
    return number ? std::optional(static_cast<Value>(*number)) : std::nullopt;
  } else if constexpr (std::is_floating_point_v<Value>) {
    if (kind.of == Kind::Of::integer) {
      const auto number = node.integer(rule.name, whole(kind.range.minimum), whole(kind.range.maximum));
      return number ? std::optional(static_cast<Value>(*number)) : std::nullopt;
    }
    if (kind.of != Kind::Of::quantity) return node.real(rule.name, kind.range);
    return required_quantity(node, rule.name.c_str(), {kind.unit, kind.range, kind.form.c_str()});
  } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
    std::vector<std::int64_t> numbers = node.integers(rule.name, whole(kind.range.minimum), whole(kind.range.maximum));
    return numbers.empty() ? std::nullopt : std::optional(std::move(numbers));
  } else {
    static_assert(std::is_same_v<Value, std::string>);
    return read_text(node, rule);
  }
}

/// Returns the text that reads back as the value; for a number, the shortest one.
template <class Value>
std::string value_text(const Kind& kind, const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return kind.names.at(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<Value>) {
    return spec::to_string(value);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    if (kind.of == Kind::Of::word_or_count && value == Value{}) return kind.names.front();
    return fmt::format("{}{}", value, kind.of == Kind::Of::quantity ? base_unit(kind.unit) : "");
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value;
  } else {
    return fmt::format("{}", fmt::join(value, " "));
  }
}

}  // namespace dadsim::scenario
