#include "sim/process/simgrid_output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "support/split.hpp"

namespace dadsim::sim {
namespace {

template <std::size_t N>
bool any_in(std::string_view words, const std::array<std::string_view, N>& known) {
  return std::ranges::any_of(known, [&](std::string_view one) { return words.find(one) != words.npos; });
}

constexpr std::array<std::string_view, 7> kDeniedMemory{
    "memory allocation error (strdup returned NULL)",  "Failed to allocate stack.",
    "Failed to protect stack: Cannot allocate memory", "out of dynamic memory in yy",
    "out of memory expanding start-condition stack",   "simgrid_dtd.c",
    "Sanitizer: allocator is out of memory",
};

constexpr std::array<std::string_view, 14> kCrash{
    "Segmentation fault",
    "the simulation crashed: ",
    "stack smashing detected",
    "buffer overflow detected",
    "Assertion `",
    "free(): ",
    "malloc(): ",
    "realloc(): ",
    "munmap_chunk(): ",
    "malloc_consolidate(): ",
    "corrupted size vs. prev_size",
    "corrupted double-linked list",
    "double free or corruption",
    "Sanitizer: ",
};

constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// Removes "[…]" at the beginning of `text`. Returns whether it was there.
bool skip_bracket(std::string_view& text) {
  if (!text.starts_with('[')) return false;
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return false;
  text.remove_prefix(end + 1);
  return true;
}

bool skip_blanks(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(count);
  return count > 0;
}

/// Removes "file:12: " at the beginning.
void skip_place(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  if (!word.ends_with(':') || word.size() == text.size()) return;
  const std::size_t last = word.find_last_not_of("0123456789", word.size() - 2);
  if (last == std::string_view::npos || last == 0 || word[last] != ':' || last + 2 == word.size()) return;
  text.remove_prefix(word.size());
  skip_blanks(text);
}

/// Returns a line of SimGrid's log without "[12.000000] file:line: [category/LEVEL] ".
std::string without_prefix(std::string_view line) {
  std::string_view rest = line;
  if (!skip_bracket(rest) || !skip_blanks(rest)) return std::string(line);
  skip_place(rest);
  if (skip_bracket(rest)) skip_blanks(rest);
  return std::string(rest);
}

/// Returns whether a line belongs to a backtrace.
bool is_noise(std::string_view line) {
  skip_blanks(line);
  std::string begin(line.substr(0, 9));
  std::ranges::transform(begin, begin.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return begin == "backtrace" || begin.starts_with("->") || begin.starts_with("=>") || begin.starts_with("at 0x") ||
         (begin.size() > 1 && begin[0] == '#' && begin[1] >= '0' && begin[1] <= '9');
}

}  // namespace

bool says_out_of_memory(std::string_view words) {
  return any_in(words, kDeniedMemory) ||
         (words.find("llocation of ") != words.npos && words.find(" bytes failed") != words.npos);
}

bool says_crash(std::string_view words) { return any_in(words, kCrash); }

std::string simgrid_words(std::string_view output) {
  std::string words;
  std::vector<std::string> seen;
  for (const std::string_view said : lines_of(output)) {
    std::string line = without_prefix(std::string(said));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    if (line.empty() || is_noise(line) || std::ranges::count(seen, line) > 0) continue;
    if (words.size() + line.size() > 2000) break;
    if (!words.empty()) words += "; ";
    words += line;
    seen.push_back(line);
  }
  return words;
}

void throw_if_crashed(const ChildOutcome& outcome) {
  if (outcome.crashed()) throw std::runtime_error("the simulation crashed: " + outcome.description());
}

std::string failure_of(const ChildOutcome& outcome, std::string reported) {
  throw_if_crashed(outcome);
  if (reported.empty()) return simgrid_words(outcome.output);
  return reported;
}

}  // namespace dadsim::sim
