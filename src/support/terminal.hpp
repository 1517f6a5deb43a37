#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dadsim {

/// Returns `text` in a form that is safe on a terminal: characters that move its cursor, change its title or colours,
/// or hide or reverse nearby text are written out, as \x1b, \x9b or \u{202e}. These are the control characters other
/// than line feed and tab (C0, DEL and C1), bytes that are no UTF-8, and the characters of Unicode's category Cf
/// (format: marks of direction, joiners, tags; Unicode 15.1, chapter 23.2 ff.), its line and paragraph separators and
/// blank fillers.
std::string for_terminal(std::string_view text);

/// Returns whether a name has one of these characters, a line feed or a tab: it could be mistaken for another one, or
/// would break its line.
bool has_hidden_characters(std::string_view name);

/// Returns a name with every such character written out.
std::string with_hidden_characters_shown(std::string_view name);

/// Returns the columns of a descriptor's terminal: from the variable COLUMNS, or else the terminal's own. None if it is
/// no terminal, or its width is unknown.
std::optional<std::size_t> columns_of_terminal(int descriptor);

/// Use of weights and colours in text.
enum class Colour : unsigned char { automatic, always, never };
void choose_colour(Colour colour);
/// Returns whether text there has colours: by default on a terminal that is not dumb, if the variable NO_COLOR is not
/// set (no-color.org).
bool is_coloured(int descriptor);

/// Opens those of the descriptors 0, 1 and 2 that the process started without, so that no later file gets their number,
/// and with it text for a terminal. Writing to such an output still fails.
void hold_standard_descriptors();

/// Writes a message to standard error, for a terminal. Never throws: if it cannot be written, the exit status alone
/// reports the result.
void say(std::string_view text) noexcept;

/// Does the same for an error: red if is_coloured().
void complain(std::string_view text) noexcept;

/// Does the same in place of the current line; an empty text clears the line.
void say_in_place(std::string_view text) noexcept;
/// Returns whether that is visible: on a terminal, or to a listener.
bool shows_in_place() noexcept;

/// Directs say_in_place() to `listener` instead of the terminal, from any thread, one call at a time; its exceptions
/// are dropped. An empty function: the terminal again. Returns after all calls of the previous listener have ended.
void tell_instead(std::function<void(std::string_view)> listener);

}  // namespace dadsim
