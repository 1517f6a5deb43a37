#include "scenario/quantity.hpp"

#include <cmath>

namespace dadsim::scenario {

std::optional<double> required_quantity(const Node& node, const char* attribute, const QuantityForm& form,
                                        const Catalog& catalog) {
  const std::optional<std::string> text = node.required_text(attribute, form.remedy);
  if (!text) return std::nullopt;
  const std::optional<double> value = catalog.parse_unit(form.unit, *text);
  if (!value || !std::isfinite(*value)) {
    node.fail_at(attribute, "is not a number with such a unit", form.remedy);
    return std::nullopt;
  }
  if (!form.range.contains(*value)) {
    node.fail_at(attribute, "is out of range", form.remedy);
    return std::nullopt;
  }
  return value;
}

double quantity(const Node& node, const char* attribute, const QuantityForm& form, double fallback,
                const Catalog& catalog) {
  return node.has(attribute) ? required_quantity(node, attribute, form, catalog).value_or(fallback) : fallback;
}

}  // namespace dadsim::scenario
