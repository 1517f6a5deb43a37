#pragma once

#include <string>

namespace dadsim::test {

/// Whether this program holds the entry of a registry to the laws. The programs of tests/<folder> hold all of them;
/// that of the examples (examples/) holds its own plug-ins, since the others have been held already.
inline bool is_held_to_laws([[maybe_unused]] const std::string& name) {
#ifdef DADSIM_LAWS_OF_EXAMPLES
  return name.starts_with("example-");
#else
  return true;
#endif
}

}  // namespace dadsim::test
