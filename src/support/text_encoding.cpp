#include "support/text_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "support/shell_word.hpp"
#include "support/utf8.hpp"

namespace dadsim {
namespace {

/// A character that looks like a plain character, or is invisible.
struct LookAlike {
  std::uint32_t code;  ///< code point in Unicode 15
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
  if (!bytes.starts_with("\xFF\xFE") && !bytes.starts_with("\xFE\xFF")) return std::nullopt;
  return Fault{"is UTF-16", fmt::format("save it as UTF-8: iconv -f UTF-16 -t UTF-8 {} > NEW", shell_word(path))};
}

std::string with_plain_characters(std::string_view text) {
  std::string plain;
  for (Utf8Character first; !text.empty(); text.remove_prefix(std::max<std::size_t>(first.bytes, 1))) {
    first = first_character(text);
    const LookAlike* other = look_alike(first.code);
    plain += other != nullptr ? other->plain : text.substr(0, std::max<std::size_t>(first.bytes, 1));
  }
  return plain;
}

std::string remedy_for_characters(std::string_view text) {
  for (Utf8Character first; !text.empty(); text.remove_prefix(std::max<std::size_t>(first.bytes, 1))) {
    first = first_character(text);
    const LookAlike* other = look_alike(first.code);
    if (other == nullptr) continue;
    const std::string_view plain = other->plain == " " ? "a blank" : other->plain;
    return plain.empty() ? fmt::format("remove the {} (U+{:04X})", other->name, first.code)
                         : fmt::format("write {} instead of the {} (U+{:04X})", plain, other->name, first.code);
  }
  return {};
}

}  // namespace dadsim
