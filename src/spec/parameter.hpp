#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dadsim::spec {

/// One parameter of an algorithm: everything needed to check it, list it and document it.
struct ParameterSpec {
  enum class Type { integer, real, choice, file };  ///< file: a path, what lies there is part of the value
  std::string name;
  Type type = Type::real;
  double minimum = 0;  ///< inclusive; numbers only
  double maximum = 0;  ///< inclusive; numbers only
  std::string default_value;
  std::vector<std::string> choices;  ///< of a choice
  std::string description;
};

inline ParameterSpec integer_parameter(std::string name, double minimum, double maximum, std::string default_value,
                                       std::string description) {
  return {std::move(name),       ParameterSpec::Type::integer, minimum, maximum, std::move(default_value), {},
          std::move(description)};
}

inline ParameterSpec real_parameter(std::string name, double minimum, double maximum, std::string default_value,
                                    std::string description) {
  return {std::move(name),       ParameterSpec::Type::real, minimum, maximum, std::move(default_value), {},
          std::move(description)};
}

inline ParameterSpec choice_parameter(std::string name, std::string default_value, std::vector<std::string> choices,
                                      std::string description) {
  return {std::move(name),    ParameterSpec::Type::choice, 0, 0, std::move(default_value),
          std::move(choices), std::move(description)};
}

/// One whose first choice is the one by default.
inline ParameterSpec choice_parameter(std::string name, const std::vector<std::string>& choices,
                                      std::string description) {
  return choice_parameter(std::move(name), choices.front(), choices, std::move(description));
}

/// Values by name, as text already checked against the specification.
using ParameterValues = std::map<std::string, std::string>;

}  // namespace dadsim::spec
