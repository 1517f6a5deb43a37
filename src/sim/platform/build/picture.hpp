#pragma once

#include <string>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// What a platform looks like, small enough to be drawn: what there is a lot of is folded into one box.
struct Picture {
  enum class Kind { host, node, network };
  struct Box {
    std::string id;     ///< unique
    std::string label;  ///< may have several lines
    Kind kind = Kind::host;
    std::string frame;  ///< title of the frame around it; empty: none
  };
  struct Edge {
    std::string from, to;  ///< ids
    std::string label;
    std::vector<std::string> links{};  ///< of the platform, that it stands for, both directions
  };
  std::vector<Box> boxes;
  std::vector<Edge> edges;
};

/// At most about so many boxes of one kind are drawn one by one.
inline constexpr std::size_t kDrawnOneByOne = 64;

/// Of a declared platform; empty for a file, whose hosts are not known here.
Picture draw(const spec::PlatformSpec& platform);

/// "50 Mbit/s"; "450 GB/s" from 1 Tbit/s on.
std::string rate_in_words(double bytes_per_second);

/// "20 ms"
std::string seconds_in_words(double seconds);

}  // namespace dadsim::sim
