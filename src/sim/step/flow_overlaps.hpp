#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Collectives of different devices, or of different lines of a device, that are on their way at the same time and
/// share links. One that is worked out later than another has what this leaves of a link, and half of it at least. The
/// other one is not held up any more, though it would be: by what then is asked of the link beyond all that it has.
/// That is added up, for whoever has to judge whether it may be overlooked.
class FlowOverlaps {
 public:
  explicit FlowOverlaps(const Interconnect& network) : network_(network) {}

  /// A collective that takes `seconds` where it is alone, and puts so much on links. Its number.
  std::size_t add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds);

  struct Occurrence {
    double seconds = 0;     ///< that it takes beside the others
    double overlooked = 0;  ///< seconds that others would take longer for it, and do not
  };
  /// It occurs: from `begin` on, for `seconds` where it is alone.
  Occurrence occur(std::size_t number, double begin, double seconds);

 private:
  /// How it gets on while another one is on its way.
  struct Other {
    double pace = 1;    ///< of that by itself
    double beyond = 0;  ///< share of a link that both ask for beyond the whole
  };
  struct Span {
    double begin, end;  ///< seconds
  };
  struct Collective {
    std::unordered_map<std::size_t, Other> others;  ///< by number: where the two do not fit on a link together
    std::vector<Span> spans;                        ///< by their beginnings: when it has occurred
  };
  struct User {
    std::size_t number;
    double share;  ///< of the link, where it is alone
  };
  void meet(std::size_t number, double share, const User& user);

  const Interconnect& network_;
  std::vector<Collective> collectives_;
  std::unordered_map<std::int32_t, std::vector<User>> users_;  ///< by link
};

}  // namespace dadsim::sim
