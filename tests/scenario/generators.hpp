#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>

namespace dadsim::test {

// Pieces of XML at random, inside a RapidCheck property.

template <class... Texts>
std::string one_of(Texts... texts) {
  return *rc::gen::element<std::string>(texts...);
}

inline bool coin() { return *rc::gen::arbitrary<bool>(); }

inline std::int64_t between(std::int64_t first, std::int64_t last) { return *rc::gen::inRange(first, last + 1); }

/// A number in (0, 1) with digits to the last bit.
inline double share() {
  return (static_cast<double>(between(0, (std::int64_t{1} << 52U) - 2)) + 1) /
         static_cast<double>(std::int64_t{1} << 52U);
}

/// ` name="value"`, or nothing: both have to come back.
template <class Value>
std::string maybe(const char* name, const Value& value) {
  return coin() ? fmt::format(" {}=\"{}\"", name, value) : "";
}

/// What XML has to escape, beyond ASCII, and white space that attributes lose unless it is written as a reference.
inline std::string some_text() {
  return "x" +
         one_of("", "&amp;", "&amp;#38;", "&#38;", "&lt;tag&gt;", "&quot;'", "é – 数", "&#10;&#9;&#13;",
                "  two  spaces") +
         "y";
}

}  // namespace dadsim::test
