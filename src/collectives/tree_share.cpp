// What NCCL's trees reach of their bandwidth: treeCorrectionFactor of its tuner (NVIDIA/nccl 2.28,
// src/graph/tuning.cc), a share for every power of two of bytes, with LL, LL128 and Simple.
#include <array>
#include <cmath>
#include <cstddef>

#include "collectives/libraries.hpp"

namespace dadsim::collectives {

double tree_share_of_bandwidth(Protocol protocol, double bytes) {
  constexpr std::array<std::array<double, 23>, 3> kShares = {
      {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
       {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
       {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};
  if (!(bytes >= 64) || protocol == Protocol::by_message) return 1;
  const int size = std::ilogb(bytes / 64);
  const auto& shares = kShares.at(static_cast<std::size_t>(protocol) - 1);
  return size < static_cast<int>(shares.size()) ? shares.at(static_cast<std::size_t>(size)) : 1;
}

}  // namespace dadsim::collectives
