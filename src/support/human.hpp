#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dadsim {

// Formatting of numbers and text for people. A number that is not finite is "–".

std::string human_seconds(double seconds);  ///< "3.20 s", "4 min 10 s", "2.10 h", "12.5 days"
std::string human_bytes(double bytes);      ///< decimal units: "512 B", "74.6 kB", "2.14 MB"
std::string human_percent(double share);    ///< a share of 1, with one decimal: "96.3 %"

std::string human_energy(double joules);  ///< "512 J", "4.20 Wh", "1.35 kWh"

std::string human_count(std::int64_t count);  ///< "25,557,032"

/// Returns the columns that UTF-8 text takes on a terminal: wide East Asian characters count two (the ranges of C++20
/// [format.string.std]), combining marks none.
std::size_t display_width(std::string_view text);

/// Pads with spaces to `width` columns; longer text is cut and ends in "…".
std::string left_aligned(std::string_view text, std::size_t width);
std::string right_aligned(std::string_view text, std::size_t width);

/// Breaks text at spaces, except between a number and its unit, into lines of at most `width` columns; a longer word
/// has its own line. All lines but the first begin with `indent` spaces. The result ends in a newline.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// Returns for example "10 Mbit/s", "200 Gbit/s"; from 1 Tbit/s on in bytes: "450 GB/s".
std::string human_link_rate(double bytes_per_second);

}  // namespace dadsim
