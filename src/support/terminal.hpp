#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dadsim {

/// Returns `text` with unsafe characters escaped for a terminal, as \x1b, \x9b or \u{202e}. Unsafe are characters that
/// move the cursor, change title or colours, or hide or reverse nearby text: control characters other than line feed
/// and tab (C0, DEL and C1), bytes that are not UTF-8, Unicode's category Cf (marks of direction, joiners, tags;
/// Unicode 15.1, chapter 23.2 ff.), its line and paragraph separators, and blank fillers.
std::string for_terminal(std::string_view text);

/// Returns whether a name has an unsafe character (see for_terminal()), a line feed or a tab. The name could be
/// mistaken for another name, or would break its line.
bool has_hidden_characters(std::string_view name);

/// Returns a name with all these characters escaped.
std::string with_hidden_characters_shown(std::string_view name);

/// Returns the columns of a file descriptor's terminal, from the variable COLUMNS or from the terminal. None if it is
/// not a terminal, or if its width is unknown.
std::optional<std::size_t> columns_of_terminal(int descriptor);

/// Use of colours and bold text.
enum class Colour : unsigned char { automatic, always, never };
void choose_colour(Colour colour);
/// Returns whether text on this file descriptor is coloured: by default on a terminal that is not dumb, unless the
/// variable NO_COLOR is set (no-color.org).
bool is_coloured(int descriptor);

/// Opens those of the file descriptors 0, 1 and 2 that are closed when the process starts. Otherwise a file opened
/// later would get such a number, and receive text for a terminal. Writing to such an output still fails.
void hold_standard_descriptors();

/// Writes a message to standard error, made safe for a terminal. Never throws: if writing fails, only the exit status
/// reports the result.
void say(std::string_view text) noexcept;

/// Writes an error message like say(), in red if is_coloured().
void complain(std::string_view text) noexcept;

/// Writes a message like say(), but in place of the current line; an empty text clears it.
void say_in_place(std::string_view text) noexcept;
/// Returns whether say_in_place() has an effect: on a terminal, or with a listener.
bool shows_in_place() noexcept;

/// Sends the text of say_in_place() to `listener` instead of the terminal, from any thread, one call at a time; its
/// exceptions are dropped. An empty function restores the terminal. Returns after all calls of the previous listener
/// have ended.
void tell_instead(std::function<void(std::string_view)> listener);

}  // namespace dadsim
