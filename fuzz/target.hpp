#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace dadsim::fuzz {

/// Ends the program with a message if the reader broke its promise.
inline void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
}

/// Returns the texts before and after the first line "==="; without such a line, the whole text twice.
inline std::pair<std::string_view, std::string_view> two_files(std::string_view input) {
  constexpr std::string_view kBetween = "\n===\n";
  const std::size_t at = input.find(kBetween);
  if (at == std::string_view::npos) return {input, input};
  return {input.substr(0, at + 1), input.substr(at + kBetween.size())};
}

}  // namespace dadsim::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
