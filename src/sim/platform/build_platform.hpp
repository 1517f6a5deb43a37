#pragma once

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Builds a declared platform in the engine of this process, or loads a platform file. Does not seal it. Every link
/// (each direction of a split-duplex link) gets properties that determine its use:
///   transport   plain, tcp, rdma or nvlink
///   efficiency  share of the bandwidth that payload reaches, 0…1
///   queue       bytes of the link's queue (tcp)
///   class       name of the catalogue entry
/// Every host gets the property `node`, equal for hosts of one node. Link bandwidths are nominal. Throws
/// std::runtime_error if the platform cannot be built.
void build_platform(const spec::PlatformSpec& platform);

/// Throws the errors of build_platform for a declared platform, in a tenth of the time, because nothing is built. Does
/// not check files, nor names that occur twice, which SimGrid refuses.
void check_declared(const spec::PlatformSpec& platform);

}  // namespace dadsim::sim
