#pragma once

#include <cassert>
#include <exception>
#include <new>

namespace dadsim::formats {
[[noreturn]] inline void end_without_memory() { throw std::bad_alloc(); }
}  // namespace dadsim::formats

// A value that finds no memory when it becomes an object is left as an object without one, which the library asserts
// against when it takes it down. That is no bug: it ends as what cannot be taken down for want of memory does
// (main.cpp).
#define JSON_ASSERT(condition) \
  ((condition) || std::uncaught_exceptions() == 0 ? assert(condition) : dadsim::formats::end_without_memory())
#include <nlohmann/json.hpp>

// Only sources include this: the library takes the compiler a second.

namespace dadsim::formats {

using Json = nlohmann::ordered_json;

}  // namespace dadsim::formats
