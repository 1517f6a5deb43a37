#pragma once

#include <cassert>
#include <exception>
#include <new>

namespace dadsim::formats {
[[noreturn]] inline void end_without_memory() { throw std::bad_alloc(); }
}  // namespace dadsim::formats

// Disables an assertion in the library's destructor about a value whose object could not be allocated. This is not a
// bug: the program ends as always if memory for unwinding is missing (main.cpp).
#define JSON_ASSERT(condition) \
  ((condition) || std::uncaught_exceptions() == 0 ? assert(condition) : dadsim::formats::end_without_memory())
#include <nlohmann/json.hpp>

// Include this only in source files, because compiling the library takes a second.

namespace dadsim::formats {

using Json = nlohmann::ordered_json;

}  // namespace dadsim::formats
