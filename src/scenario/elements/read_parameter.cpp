#include "scenario/elements/read_parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "scenario/xml/files.hpp"
#include "support/parse_whole.hpp"
#include "support/whole_file.hpp"

namespace dadsim::scenario {

std::string read_parameter(const Node& node, const spec::ParameterSpec& parameter, const ReadContext& context) {
  switch (parameter.type) {
    case spec::ParameterSpec::Type::integer: {
      const std::int64_t fallback = parse_whole<std::int64_t>(parameter.default_value).value_or(0);
      return std::to_string(node.integer(parameter.name, static_cast<std::int64_t>(parameter.minimum),
                                         static_cast<std::int64_t>(parameter.maximum), fallback));
    }
    case spec::ParameterSpec::Type::real: {
      const double fallback = parse_real(parameter.default_value).value_or(0);
      return fmt::format(
          "{}", node.real(parameter.name, {.minimum = parameter.minimum, .maximum = parameter.maximum}, fallback));
    }
    case spec::ParameterSpec::Type::choice: {
      // Without listed choices, the method checks the text.
      if (parameter.choices.empty()) return node.text(parameter.name, parameter.default_value);
      const auto fallback = std::ranges::find(parameter.choices, parameter.default_value) - parameter.choices.begin();
      return parameter.choices.at(node.choice(parameter.name, parameter.choices, static_cast<std::size_t>(fallback)));
    }
    case spec::ParameterSpec::Type::file: {
      std::string name = node.text(parameter.name, parameter.default_value);
      if (name.empty()) return name;
      note_input(beside(context.path, name));
      return beside(context.path, name);
    }
  }
  throw std::logic_error("unknown type of parameter");
}

void check_parameter_names(const Node& node, const ParameterOwner& owner, std::span<const ParameterOwner> all,
                           const ReadContext& context) {
  std::vector<std::string> known = find_rule(node.element().name)->attribute_names();
  for (const spec::ParameterSpec& parameter : owner.parameters) known.push_back(parameter.name);
  for (const Attribute& attribute : node.element().attributes) {
    // Namespaced attributes have been reported already.
    if (attribute.name.find(':') != std::string::npos || attribute.name == "xmlns") continue;
    if (std::ranges::find(known, attribute.name) != known.end()) continue;
    std::vector<std::string> others;
    for (const ParameterOwner& other : all) {
      if (std::ranges::find(other.parameters, attribute.name, &spec::ParameterSpec::name) != other.parameters.end())
        others.push_back(other.name);
    }
    context.findings.add(
        attribute.origin, fmt::format("'{}' has no parameter '{}'", owner.name, printable(attribute.name)),
        others.empty() ? context.findings.suggest(attribute.name, known)
                       : fmt::format("only {} ha{} it", fmt::join(others, ", "), others.size() == 1 ? "s" : "ve"));
  }
}

}  // namespace dadsim::scenario
