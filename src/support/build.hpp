#pragma once

#include <string>

namespace dadsim {

/// What the sources of this program are: the commit, with "-dirty-" and a fingerprint of what was changed since where
/// something was; "source-" and a fingerprint of the sources where there is no git.
const char* source_identity();

/// What results come from that must not be mixed: the sources, and "+avx2" or the like where the inner loops of
/// learning use other instructions than every processor has, and so round differently (support/kernel_set.hpp).
const std::string& build();

}  // namespace dadsim
