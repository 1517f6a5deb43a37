#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dadsim::spec {

/// A value of an enumeration, and its name in scenarios, results and messages.
template <class Enum>
struct Name {
  Enum value;
  const char* text;
};

/// Each enumeration has one table of names, next to its definition, in the order of presentation: constexpr auto
/// names_of(Stop) { return std::to_array<Name<Stop>>({{Stop::budget, "budget"}, …}); }
template <class Enum>
concept Named = std::is_enum_v<Enum> && requires(Enum value) {
  names_of(value);
};

template <Named Enum>
constexpr const char* to_string(Enum value) {
  for (const Name<Enum>& name : names_of(value)) {
    if (name.value == value) return name.text;
  }
  throw std::logic_error("a value of an enumeration has no name");
}

/// Returns the value with that name; nullopt if there is none.
template <Named Enum>
constexpr std::optional<Enum> parse(std::string_view text) {
  for (const Name<Enum>& name : names_of(Enum{})) {
    if (name.text == text) return name.value;
  }
  return std::nullopt;
}

/// Returns all names of an enumeration, in their order.
template <Named Enum>
std::vector<std::string> all_names() {
  std::vector<std::string> texts;
  for (const Name<Enum>& name : names_of(Enum{})) texts.emplace_back(name.text);
  return texts;
}

}  // namespace dadsim::spec
