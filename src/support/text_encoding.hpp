#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/diagnostics.hpp"

// Faults of text saved by other programs: encodings other than UTF-8, and typographic characters.
namespace dadsim {

/// Returns the fault of a text file that begins with the byte order mark of UTF-16 (RFC 2781, 3.2); nullopt for other
/// files. The remedy has a command that converts `path`.
std::optional<Fault> fault_of_encoding(const std::string& path, std::string_view bytes);

/// Returns the text with plain characters in place of typographic ones from word processors and web pages: no-break
/// spaces, curly quotes, dashes, byte order marks inside a text.
std::string with_plain_characters(std::string_view text);

/// Returns the remedy for the first typographic character: "write a blank instead of the no-break space (U+00A0)";
/// empty if there is none.
std::string remedy_for_characters(std::string_view text);

}  // namespace dadsim
