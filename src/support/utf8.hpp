#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dadsim {

/// A character of UTF-8.
struct Utf8Character {
  std::size_t bytes = 0;  ///< bytes of the character; 0: the text does not begin with one
  std::uint32_t code = 0;
};

/// Decodes the first character of `text` (RFC 3629). Rejects stray continuation bytes, overlong forms and surrogates.
inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0) return {};
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {bytes, code};
}

}  // namespace dadsim
