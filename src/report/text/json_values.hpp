#pragma once

#include <cassert>
#include <exception>
#include <new>

namespace dadsim::report {
[[noreturn]] inline void end_without_memory() { throw std::bad_alloc(); }
}  // namespace dadsim::report

// A value that finds no memory when it becomes an object is left as an object without one, which the library asserts
// against when it takes it down. That is no bug: it ends as what cannot be taken down for want of memory does
// (main.cpp).
#define JSON_ASSERT(condition) \
  ((condition) || std::uncaught_exceptions() == 0 ? assert(condition) : dadsim::report::end_without_memory())
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

// What every JSON file here has in common. Only sources include this: the library takes the compiler a second.

namespace dadsim::report {

using Json = nlohmann::ordered_json;

/// JSON knows no infinity and no "not a number": null stands for them, and for what is not known.
Json number(double value);
Json number(const std::optional<double>& value);

/// The file that holds `json`, on one line. Names from a platform file may be in another encoding: JSON is UTF-8, and
/// what is not becomes U+FFFD.
std::string one_line(const Json& json);
/// As one_line(), a member a line, and ending in a newline.
std::string indented(const Json& json);

}  // namespace dadsim::report
