#include "sim/last_words.hpp"

#include <algorithm>
#include <array>

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

}  // namespace

bool tell_of_denied_memory(std::string_view words) {
  return any_in(words, kDeniedMemory) ||
         (words.find("llocation of ") != words.npos && words.find(" bytes failed") != words.npos);
}

bool tell_of_a_crash(std::string_view words) { return any_in(words, kCrash); }

}  // namespace dadsim::sim
