#include "methods/idle_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dadsim::methods {
namespace {

bool is_default(const spec::ParameterSpec& parameter, const std::string& text) {
  using Type = spec::ParameterSpec::Type;
  if (parameter.type != Type::integer && parameter.type != Type::real) return text == parameter.default_value;
  return std::stod(text) == std::stod(parameter.default_value);  // compares numbers: "0.50" equals 0.5
}

/// Returns for example staleness="bounded" or "damped"; only the name of the other parameter if the condition has no
/// values.
std::string in_words(const ActsBeside& condition) {
  std::string words = condition.other.name;
  for (const std::string& value : condition.values)
    words += fmt::format("{}\"{}\"", &value == &condition.values.front() ? "=" : " or ", value);
  return words;
}

}  // namespace

RunFaults faults_of_idle_parameters(const spec::ParameterValues& values, const std::vector<ActsBeside>& conditions) {
  RunFaults faults;
  for (const ActsBeside& one : conditions) {
    const auto told = values.find(one.parameter.name), other = values.find(one.other.name);
    if (told == values.end() || other == values.end() || is_default(one.parameter, told->second)) continue;
    const bool is_so = one.values.empty() ? !is_default(one.other, other->second)
                                          : std::ranges::find(one.values, other->second) != one.values.end();
    if (is_so != one.without) continue;
    const std::string words = in_words(one);
    faults.push_back(
        one.without
            ? Fault{fmt::format("{}=\"{}\" conflicts with {}=\"{}\"", told->first, told->second, other->first,
                                other->second),
                    fmt::format("set {}=\"{}\", or remove {}", other->first, one.other.default_value, told->first)}
            : Fault{fmt::format("{}=\"{}\" needs {}", told->first, told->second, words),
                    fmt::format("{}, or remove it", one.values.empty() ? "add " + words : "set " + words)});
  }
  return faults;
}

}  // namespace dadsim::methods
