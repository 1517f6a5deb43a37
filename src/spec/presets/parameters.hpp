#pragma once

#include <cstdint>
#include <string>

#include "spec/parameter.hpp"

namespace dadsim::spec {

/// A parameter that counts something: at least 1.
inline ParameterSpec count_parameter(std::string name, std::string default_value, std::string description) {
  return integer_parameter(std::move(name), 1, 65536, std::move(default_value), std::move(description));
}

inline std::int64_t count_of(const ParameterValues& values, const std::string& name) {
  return std::stoll(values.at(name));
}

}  // namespace dadsim::spec
