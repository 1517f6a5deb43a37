#include "scenario/language/value.hpp"

#include <algorithm>

#include "support/parse_whole.hpp"

namespace dadsim::scenario {

std::optional<std::uint64_t> read_seed(const Node& node, const std::string& attribute) {
  const std::optional<std::uint64_t> value = parse_whole<std::uint64_t>(node.text(attribute, ""));
  if (!value) node.fail_at(attribute, "is no seed", "a whole number from 0 to 18446744073709551615");
  return value;
}

std::optional<std::int64_t> read_word_or_count(const Node& node, const AttributeRule& rule) {
  const std::string text = node.text(rule.name, "");
  const std::string& word = rule.kind.names.front();
  if (text == word) return 0;
  const std::optional<std::int64_t> steps = parse_whole<std::int64_t>(text);
  if (steps && rule.kind.range.contains(static_cast<double>(*steps))) return steps;
  node.fail_at(rule.name, "is unknown", fmt::format("{}, or a number of steps {}", word, rule.kind.range.to_string()));
  return std::nullopt;
}

std::optional<std::string> read_text(const Node& node, const AttributeRule& rule) {
  const bool has_to_say = !node.has(rule.name) || !rule.kind.form.empty();
  if (has_to_say && !node.required_text(rule.name, rule.kind.form)) return std::nullopt;
  if (rule.kind.of != Kind::Of::name) return node.text(rule.name, "");
  const std::vector<std::string>& names = rule.kind.names;
  const std::size_t chosen = node.choice(rule.name, names, names.size());
  return chosen == names.size() ? std::nullopt : std::optional(names[chosen]);
}

bool takes(const Kind& kind, const std::string& text) {
  switch (kind.of) {
    case Kind::Of::quantity: {
      const std::optional<double> value =
          parse_real(text.substr(0, text.size() - std::string(base_unit(kind.unit)).size()));
      return value && kind.range.contains(*value);
    }
    case Kind::Of::integer: {
      const std::optional<std::int64_t> value = parse_whole<std::int64_t>(text);
      return value && kind.range.contains(static_cast<double>(*value));
    }
    case Kind::Of::name:
      return std::ranges::find(kind.names, text) != kind.names.end();
    case Kind::Of::real:
    case Kind::Of::seed: {
      const std::optional<double> value = parse_real(text);
      return value && kind.range.contains(*value);
    }
    default:
      return !text.empty();
  }
}

}  // namespace dadsim::scenario
