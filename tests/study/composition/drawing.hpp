#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/language/node.hpp"
#include "scenario/language/quantity.hpp"
#include "scenario/language/rule.hpp"
#include "scenario/xml/element.hpp"
#include "spec/parameter.hpp"
#include "study/composition/drawn_values.hpp"

namespace dadsim::test {

using scenario::Element;

/// Draws elements by the language's own rules, so that new attributes are drawn without a change here. The caller
/// provides values that depend on others, such as names of hosts and files.
class Drawing {
 public:
  Drawing(std::uint64_t seed, const scenario::Catalog& catalog)
      : random_(seed * 0x9E3779B97F4A7C15ULL + 1), catalog_(catalog) {}

  const scenario::Catalog& catalog() const { return catalog_; }
  bool chance(double share) { return static_cast<double>(random_() >> 11U) * 0x1p-53 < share; }
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(last - first + 1));
  }
  std::string one_of(const Texts& texts) { return texts[random_() % texts.size()]; }

  /// Returns small values for an attribute; empty if only the caller can choose one.
  Texts values_of(const std::string& element, const scenario::AttributeRule& rule) const {
    const auto told = own_values().find(element + "." + rule.name);
    if (told != own_values().end()) return told->second;
    const scenario::Kind& kind = rule.kind;
    using Of = scenario::Kind::Of;
    switch (kind.of) {
      case Of::text:
        return of_catalog(kind.catalog);
      case Of::any_text:
        return {"some words"};
      case Of::integer:
      case Of::integers:
        return within(kind.range, {kind.range.minimum, 1, 2, 3, 4, 6, 9}, true);
      case Of::real:
      case Of::reals:
        return within(kind.range, {0, 0.05, 0.3, 0.5, 0.9, 1, 2, 10}, false);
      case Of::quantity:
        return quantities(kind);
      case Of::truth:
      case Of::name:
        return kind.names;
      case Of::seed:
        return {"1", "7", "12345678901234567890"};
      case Of::word_or_count:
        return {kind.names.front(), "1", "2", "5"};
    }
    return {};
  }

  /// Returns values of a parameter of a method, compressor or preset.
  static Texts values_of(const spec::ParameterSpec& parameter) {
    if (parameter.type == spec::ParameterSpec::Type::choice) return parameter.choices;
    const auto told = own_values().find("parameter." + parameter.name);
    if (told != own_values().end()) return told->second;
    if (parameter.type == spec::ParameterSpec::Type::file) return {};
    const bool whole = parameter.type == spec::ParameterSpec::Type::integer;
    Texts values = within({.minimum = parameter.minimum, .maximum = parameter.maximum},
                          whole ? std::vector<double>{parameter.minimum, 1, 2, 3, 4, 8}
                                : std::vector<double>{parameter.minimum, 0.1, 0.3, 0.5, 0.8, 1, 2},
                          whole);
    values.push_back(parameter.default_value);
    return values;
  }

  /// Draws an element with the attributes of `own` (an empty value omits one), all required attributes, and some
  /// optional ones.
  Element element(const std::string& name, const std::map<std::string, std::string>& own = {}, double share = 0.15) {
    const scenario::ElementRule* rule = scenario::find_rule(name);
    Element drawn{.name = name, .origin = {}};
    for (const scenario::AttributeRule& attribute : rule->attributes) {
      if (const auto told = own.find(attribute.name); told != own.end()) {
        if (!told->second.empty()) set(drawn, attribute.name, told->second);
        continue;
      }
      if (!attribute.required && !chance(share)) continue;
      const Texts values = values_of(name, attribute);
      if (!values.empty()) set(drawn, attribute.name, one_of(values));
    }
    return drawn;
  }

  static void set(Element& element, const std::string& name, const std::string& value) {
    element.attributes.push_back({name, value, {}});
  }

 private:
  static Texts within(const scenario::Range& range, const std::vector<double>& numbers, bool whole) {
    Texts texts;
    for (const double number : numbers) {
      if (!range.contains(number) || (whole && number != static_cast<double>(static_cast<std::int64_t>(number))))
        continue;
      std::string text = fmt::format("{}", number);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
    }
    return texts;
  }

  Texts quantities(const scenario::Kind& kind) const {
    static const std::map<scenario::Unit, Texts> kAll{
        {scenario::Unit::seconds, {"0s", "50us", "1ms", "20ms", "300ms", "2s", "9s"}},
        {scenario::Unit::bytes, {"0B", "900B", "20kB", "1MB", "25MB"}},
        {scenario::Unit::bytes_per_second, {"2Mbps", "20Mbps", "1Gbps", "25Gbps"}},
        {scenario::Unit::flops, {"50Gf", "2Tf", "30Tf"}}};
    Texts texts;
    for (const std::string& text : kAll.at(kind.unit)) {
      const auto value = scenario::parse_quantity(kind.unit, text);
      if (value && kind.range.contains(*value)) texts.push_back(text);
    }
    return texts;
  }

  Texts of_catalog(const std::string& name) const {
    if (name == "devices") return {"rtx-3090", "v100-sxm2", "a100-sxm4-80", "xeon-8380"};
    if (name == "links") return {"ethernet-1g", "ethernet-10g", "ib-edr", "nvlink-3", "pcie-3"};
    if (name == "all-reduces") return catalog_.all_reduces;
    if (name == "all-gathers") return catalog_.all_gathers;
    if (name == "reduce-scatters") return catalog_.reduce_scatters;
    if (name == "workloads") return {"resnet-18", "resnet-18-cifar10", "vit-b-16", "bert-base", "gpt-2-small"};
    return {};
  }

  std::mt19937_64 random_;
  const scenario::Catalog& catalog_;
};

/// Prints an element as XML, one line per element.
inline std::string text_of(const Element& element, int depth = 0) {
  const auto escaped = [](const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '&')
        result += "&amp;";
      else if (c == '<')
        result += "&lt;";
      else if (c == '"')
        result += "&quot;";
      else
        result += c;
    }
    return result;
  };
  std::string text = std::string(static_cast<std::size_t>(2 * depth), ' ') + "<" + element.name;
  for (const scenario::Attribute& one : element.attributes)
    text += fmt::format(" {}=\"{}\"", one.name, escaped(one.value));
  if (element.children.empty() && element.text.empty()) return text + "/>\n";
  text += ">" + escaped(element.text);
  if (element.children.empty()) return text + "</" + element.name + ">\n";
  text += "\n";
  for (const Element& child : element.children) text += text_of(child, depth + 1);
  return text + std::string(static_cast<std::size_t>(2 * depth), ' ') + "</" + element.name + ">\n";
}

}  // namespace dadsim::test
