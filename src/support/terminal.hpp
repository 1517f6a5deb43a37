#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dadsim {

/// `text` as a terminal may show it: what would move its cursor, change its title or colours, or hide or turn around
/// what stands beside it is written out, as \x1b, \x9b or \u{202e}. These are the control characters other than line
/// feed and tab (C0, DEL and C1), bytes that are no UTF-8, and the characters of Unicode's category Cf (format: marks
/// of direction, joiners, tags; Unicode 15.1, chapter 23.2 ff.), its line and paragraph separators and blank fillers.
std::string for_terminal(std::string_view text);

/// Whether a name has one of these characters, a line feed or a tab: it could not be told from another one, or would
/// break the line that names it.
bool has_hidden_characters(std::string_view name);

/// A name with every such character written out.
std::string with_hidden_characters_shown(std::string_view name);

/// Columns of the terminal behind a descriptor: those that the variable COLUMNS says, or else those that it has itself.
/// Nothing where it is no terminal, or does not know.
std::optional<std::size_t> columns_of_terminal(int descriptor);

/// When text has weights and colours.
enum class Colour : unsigned char { automatic, always, never };
void choose_colour(Colour colour);
/// Whether it has them there: unless chosen otherwise on a terminal that is not dumb, where the variable NO_COLOR is
/// not set (no-color.org).
bool is_coloured(int descriptor);

/// Fills those of the descriptors 0, 1 and 2 that the process began without, so that no file that is opened later gets
/// their number and with it what is meant for a terminal. Writing to such an output fails as before.
void hold_standard_descriptors();

/// Says something on standard error, for a terminal. Where that cannot be written nobody is there to be told: nothing
/// is thrown, and the exit status says what there was to say.
void say(std::string_view text) noexcept;

/// As say(), of what went wrong: red where is_coloured().
void complain(std::string_view text) noexcept;

/// As say(), in place of what the current line shows; an empty text leaves the line empty.
void say_in_place(std::string_view text) noexcept;
/// Whether that is seen: on a terminal, or by who is told instead.
bool shows_in_place() noexcept;

/// From now on say_in_place() tells `listener` and not the terminal, from whatever thread, one call at a time; what it
/// throws is lost. An empty function: the terminal again. It returns when no call of the one before goes on.
void tell_instead(std::function<void(std::string_view)> listener);

}  // namespace dadsim
