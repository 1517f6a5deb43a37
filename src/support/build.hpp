#pragma once

namespace dadsim {

/// What this program was built from, for results that must not be mixed: the commit, with "-dirty-" and a fingerprint
/// of what was changed since where something was; "source-" and a fingerprint of the sources where there is no git; and
/// "+native" where instructions of the machine that it was built on may round differently.
const char* build();

}  // namespace dadsim
