#include "scenario/language/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dadsim::scenario {
namespace {

Kind numbers(Kind::Of of, const Range& range) { return {.of = of, .range = range}; }

Range whole(std::int64_t minimum, std::int64_t maximum) {
  return {.minimum = static_cast<double>(minimum), .maximum = static_cast<double>(maximum)};
}

}  // namespace

bool Range::contains(double value) const {
  return (open_minimum ? value > minimum : value >= minimum) && (open_maximum ? value < maximum : value <= maximum);
}

std::string Range::to_string() const {
  std::string low = open_minimum ? fmt::format("above {}", minimum) : fmt::format("from {}", minimum);
  if (std::isinf(maximum)) return low;
  if (open_maximum) return low + fmt::format(" to below {}", maximum);
  return fmt::format("{}{} {}", low, open_minimum ? ", at most" : " to", maximum);
}

Kind text(std::string form, std::string pattern) {
  return {.of = Kind::Of::text, .form = std::move(form), .pattern = std::move(pattern)};
}
Kind any_text() { return {.of = Kind::Of::any_text}; }
Kind name_in(std::string catalog, std::string form) {
  return {.of = Kind::Of::text, .form = std::move(form), .catalog = std::move(catalog)};
}
Kind integer(std::int64_t minimum, std::int64_t maximum) { return numbers(Kind::Of::integer, whole(minimum, maximum)); }
Kind integers(std::int64_t minimum, std::int64_t maximum) {
  return numbers(Kind::Of::integers, whole(minimum, maximum));
}
Kind real(const Range& range) { return numbers(Kind::Of::real, range); }
Kind reals(const Range& range) { return numbers(Kind::Of::reals, range); }
Kind quantity(const QuantityForm& form) {
  return {.of = Kind::Of::quantity, .range = form.range, .unit = form.unit, .form = form.remedy};
}
Kind truth() { return {.of = Kind::Of::truth, .names = {"false", "true"}}; }
Kind seed() { return {.of = Kind::Of::seed}; }
Kind word_or_count(std::string word, std::int64_t maximum) {
  return {.of = Kind::Of::word_or_count, .range = whole(1, maximum), .names = {std::move(word)}};
}
Kind one_of(std::vector<std::string> names) { return {.of = Kind::Of::name, .names = std::move(names)}; }

AttributeRule AttributeRule::must() && {
  required = true;
  return std::move(*this);
}

AttributeRule AttributeRule::otherwise(std::string text) && {
  fallback = std::move(text);
  return std::move(*this);
}

AttributeRule AttributeRule::if_left_out(std::string what) && {
  left_out = std::move(what);
  return std::move(*this);
}

const AttributeRule* ElementRule::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &AttributeRule::name);
  return found == attributes.end() ? nullptr : &*found;
}

ElementRule ElementRule::holds(const std::vector<std::string>& names) && {
  children.insert(children.end(), names.begin(), names.end());
  return std::move(*this);
}

ElementRule ElementRule::repeats() && {
  repeatable = true;
  return std::move(*this);
}

ElementRule ElementRule::holds_text() && {
  text = true;
  return std::move(*this);
}

ElementRule ElementRule::takes_parameters(std::string whose, std::vector<std::string> shared) && {
  parameters = std::move(whose);
  shared_names = std::move(shared);
  return std::move(*this);
}

std::vector<std::string> ElementRule::attribute_names() const {
  std::vector<std::string> names;
  for (const AttributeRule& attribute : attributes) names.push_back(attribute.name);
  return names;
}

}  // namespace dadsim::scenario
