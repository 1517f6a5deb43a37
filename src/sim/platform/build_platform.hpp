#pragma once

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Builds a declared platform (not a file) in the engine of this process, or loads a file. Does not seal it. Every link
/// carries the properties that say how it is used:
///   transport   plain, tcp, rdma or nvlink
///   efficiency  share of the bandwidth that payload reaches, 0…1
///   queue       bytes of the buffer in front of it (tcp)
///   class       name of the catalogue entry
/// (on each direction of a split-duplex link), and every host the property `node`: hosts of one node have the same.
/// Link bandwidths are nominal. Throws std::runtime_error if that cannot be built.
void build_platform(const spec::PlatformSpec& platform);

/// Throws what build_platform would throw of a declared platform, and builds nothing: that takes a tenth of the time.
/// Of a file it says nothing, and of names that are there twice, which SimGrid refuses.
void check_declared(const spec::PlatformSpec& platform);

}  // namespace dadsim::sim
