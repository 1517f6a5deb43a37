#pragma once

#include <string>

namespace dadsim::test {

/// Returns true if this program checks the entry of a registry against the laws. The programs of tests/<folder> check
/// all entries; the program of the examples (examples/) checks its own plug-ins alone.
inline bool is_held_to_laws([[maybe_unused]] const std::string& name) {
#ifdef DADSIM_LAWS_OF_EXAMPLES
  return name.starts_with("example-");
#else
  return true;
#endif
}

}  // namespace dadsim::test
