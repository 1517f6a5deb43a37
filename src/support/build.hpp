#pragma once

#include <string>

namespace dadsim {

/// Returns the identity of this program's sources: the commit, with "-dirty-" and a fingerprint of later changes if
/// there are any; without git "source-" and a fingerprint of the sources.
const char* source_identity();

/// Returns the build, whose results must not be mixed with another's: the sources, and "+avx2" or similar if the inner
/// loops of learning use more than the common instructions, and so round differently (support/kernel_set.hpp).
const std::string& build();

}  // namespace dadsim
