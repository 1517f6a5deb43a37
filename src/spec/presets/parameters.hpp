#pragma once

#include <cstdint>
#include <string>

#include "spec/parameter.hpp"

namespace dadsim::spec {

/// A parameter that counts something: at least 1.
inline ParameterSpec count_parameter(std::string name, std::string default_value, std::string description) {
  return {.name = std::move(name),
          .type = ParameterSpec::Type::integer,
          .minimum = 1,
          .maximum = 65536,
          .default_value = std::move(default_value),
          .choices = {},
          .description = std::move(description)};
}

inline std::int64_t count_of(const ParameterValues& values, const std::string& name) {
  return std::stoll(values.at(name));
}

}  // namespace dadsim::spec
