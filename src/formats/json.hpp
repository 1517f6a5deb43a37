#pragma once

#include <cassert>
#include <exception>
#include <new>

namespace dadsim::formats {
[[noreturn]] inline void end_without_memory() { throw std::bad_alloc(); }
}  // namespace dadsim::formats

// A value that finds no memory for an object is left as an empty one, which the library's destructor asserts against.
// This is no bug: the program ends as it does whenever memory for unwinding is missing (main.cpp).
#define JSON_ASSERT(condition) \
  ((condition) || std::uncaught_exceptions() == 0 ? assert(condition) : dadsim::formats::end_without_memory())
#include <nlohmann/json.hpp>

// Included by sources only: compiling the library takes a second.

namespace dadsim::formats {

using Json = nlohmann::ordered_json;

}  // namespace dadsim::formats
