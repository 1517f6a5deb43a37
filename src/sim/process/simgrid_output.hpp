#pragma once

#include <string>
#include <string_view>

// What a simulating process has written by its end says what ended it. SimGrid aborts where what it was given makes no
// sense, which is a finding, and where something else is wrong, which is none.
namespace dadsim::sim {

/// Whether memory was denied to SimGrid (xbt_malloc; xbt_strdup; the stack of an actor) or to its reader of platform
/// files, which flex has written and which asserts only that it was given memory.
bool says_out_of_memory(std::string_view words);

/// Whether memory was misused, in the words of who saw it: SimGrid's handler of signals (throw_if_crashed, of a child's
/// child), the checks of the C library, a sanitizer.
bool says_crash(std::string_view words);

/// What SimGrid wrote before it gave up, without its prefixes ("[12.000000] file:line: [category/LEVEL]") and
/// backtraces.
std::string simgrid_words(std::string_view output);

}  // namespace dadsim::sim
