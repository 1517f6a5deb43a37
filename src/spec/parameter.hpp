#pragma once

#include <map>
#include <string>
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

/// Values by name, as text already checked against the specification.
using ParameterValues = std::map<std::string, std::string>;

}  // namespace dadsim::spec
