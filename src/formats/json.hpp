#pragma once

#include <cassert>
#include <exception>
#include <new>

namespace dadsim::formats {
[[noreturn]] inline void end_without_memory() { throw std::bad_alloc(); }
}  // namespace dadsim::formats

// A value without memory for its object is left empty, which the library's destructor asserts against. This is no bug:
// the program ends as it does whenever memory for unwinding is missing (main.cpp).
#define JSON_ASSERT(condition) \
  ((condition) || std::uncaught_exceptions() == 0 ? assert(condition) : dadsim::formats::end_without_memory())
#include <nlohmann/json.hpp>

// Only sources include this file, because compiling the library takes a second.

namespace dadsim::formats {

using Json = nlohmann::ordered_json;

}  // namespace dadsim::formats
