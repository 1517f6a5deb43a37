#include "support/text_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "support/shell_word.hpp"
#include "support/utf8.hpp"

namespace dadsim {
namespace {

/// A character that looks like a plain one, or like nothing.
struct LookAlike {
  std::uint32_t code;  ///< Unicode 15
  const char* name;
  std::string_view plain;
};

// clang-format off
constexpr std::array kLookAlikes = std::to_array<LookAlike>({
    {0x00A0, "no-break space", " "}, {0x2007, "figure space", " "}, {0x2009, "thin space", " "},
    {0x202F, "narrow no-break space", " "}, {0x200B, "zero-width space", ""}, {0xFEFF, "byte order mark", ""},
    {0x2018, "curly quote", "'"}, {0x2019, "curly quote", "'"}, {0x201A, "curly quote", "'"},
    {0x201C, "curly quote", "\""}, {0x201D, "curly quote", "\""}, {0x201E, "curly quote", "\""},
    {0x00AB, "quotation mark", "\""}, {0x00BB, "quotation mark", "\""}, {0x2010, "hyphen of another kind", "-"},
    {0x2011, "no-break hyphen", "-"}, {0x2013, "dash", "-"}, {0x2014, "dash", "-"}, {0x2212, "minus sign", "-"}});
// clang-format on

const LookAlike* look_alike(std::uint32_t code) {
  const auto* found = std::ranges::find(kLookAlikes, code, &LookAlike::code);
  return code < 0x80 || found == kLookAlikes.end() ? nullptr : found;
}

}  // namespace

std::optional<Fault> fault_of_encoding(const std::string& path, std::string_view bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const bool marked = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  const auto is_character = [&](std::size_t i) {
    return bytes[i] != '\0' && static_cast<unsigned char>(bytes[i]) < 0x80;
  };
  const bool little = is_character(0) && bytes[1] == '\0' && is_character(2) && bytes[3] == '\0';
  const bool big = bytes[0] == '\0' && is_character(1) && bytes[2] == '\0' && is_character(3);
  if (!marked && !little && !big) return std::nullopt;
  return Fault{"is UTF-16", fmt::format("save it as UTF-8: iconv -f {} -t UTF-8 {} > NEW",
                                        marked   ? "UTF-16"
                                        : little ? "UTF-16LE"
                                                 : "UTF-16BE",
                                        shell_word(path))};
}

std::string with_plain_characters(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    const LookAlike* other = look_alike(first.code);
    const std::size_t bytes = std::max<std::size_t>(first.bytes, 1);
    plain += other != nullptr ? other->plain : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return plain;
}

std::string remedy_for_characters(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::max<std::size_t>(first_character(text).bytes, 1))) {
    const Utf8Character first = first_character(text);
    const LookAlike* other = look_alike(first.code);
    if (other == nullptr) continue;
    if (other->plain.empty()) return fmt::format("remove the {} (U+{:04X})", other->name, first.code);
    const std::string plain = other->plain == " " ? "a blank" : std::string(other->plain);
    return fmt::format("write {} in place of the {} (U+{:04X})", plain, other->name, first.code);
  }
  return {};
}

}  // namespace dadsim
