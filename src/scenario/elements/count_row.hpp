#pragma once

#include <optional>
#include <string>
#include <utility>

#include "scenario/language/table.hpp"

namespace dadsim::scenario {

inline constexpr const char* kCountForm =
    "a number above 0, which may end in k, M, B or T (10³, 10⁶, 10⁹, 10¹²), e.g. 2T";

/// Returns the number in a text like "300B"; nullopt unless the text is a number above 0.
std::optional<double> parse_count(const std::string& text);
/// Returns the remedy for a text that is not a count: "did you mean '15T'?", or the form of counts.
std::string remedy_for_count(const std::string& text);
/// Returns the shortest text that reads back as the number: "2T", "1500000".
std::string count_text(double count);

/// Returns the row of a large count, for example of samples or tokens.
template <class Spec>
Row<Spec> count_row(std::string name, std::optional<double> Spec::*member) {
  AttributeRule rule = attribute(std::move(name), text(kCountForm));
  const std::string named = rule.name;
  Row<Spec> row = by_code<Spec>(
      std::move(rule),
      [member, named](const Node& node, const ReadContext&, Spec& spec) {
        spec.*member = parse_count(node.text(named, ""));
        if (!(spec.*member)) node.fail_at(named, "is no count", remedy_for_count(node.text(named, "")));
      },
      [member](const Spec& spec, const PathText&) {
        return spec.*member ? count_text(*(spec.*member)) : std::string();
      });
  row.printed = [member](const Spec& spec) { return (spec.*member).has_value(); };
  return row;
}

}  // namespace dadsim::scenario
