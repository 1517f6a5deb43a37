#pragma once

#include <string>

namespace dadsim {

/// Returns the identity of this program's sources: the commit, followed by "-dirty-" and a fingerprint if there are
/// later changes; without git, "source-" and a fingerprint of the sources.
const char* source_identity();

/// Returns the identity of the build, for results that must not be mixed: the sources, and "+avx2" or similar if the
/// kernels of learning use more than the common instructions, and therefore round differently (support/kernel_set.hpp).
const std::string& build();

}  // namespace dadsim
