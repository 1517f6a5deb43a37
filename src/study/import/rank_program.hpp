#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/chakra.hpp"

namespace dadsim::study {

/// What one rank of a trace goes through, in order.
struct RankProgram {
  /// A collective or a message that it takes part in.
  struct Part {
    std::string name;
    std::string kind;                   ///< as <recorded-step> calls it; "send" of a message
    std::vector<std::int64_t> members;  ///< ranks, rising; of a message: from, to
    double bytes = 0;
    std::int64_t tag = 0;
    std::uint64_t node = 0;  ///< of the trace
  };
  struct Event {
    enum class What : std::uint8_t { compute, issue, wait, wait_for_message };
    What what = What::compute;
    std::string name;      ///< of a computation
    double seconds = 0;    ///< of a computation
    std::size_t part = 0;  ///< of `issued` or `received`
    bool operator==(const Event& other) const { return what == other.what && part == other.part; }
  };
  std::vector<Part> issued, received;
  std::vector<Part> alone;    ///< collectives of a group with no other rank
  std::vector<Event> events;  ///< a computation, perhaps of no time, before each of the others and at the end
  std::size_t host_operations = 0;
};

/// Orders the nodes of a rank by what they come after, and by their numbers, and passes over what neither computes on a
/// device nor sends. A computation waits for what it comes after; collectives of one group follow one another anyway.
/// `members` of a group. Throws std::runtime_error, in words.
RankProgram program_of_rank(const formats::ChakraTrace& trace, std::int64_t rank,
                            const std::map<std::string, std::vector<std::int64_t>>& groups, std::int64_t ranks);

}  // namespace dadsim::study
