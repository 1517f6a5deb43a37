#pragma once

#include <string>
#include <vector>

namespace dadsim::sim {

/// An option of SimGrid's that a platform file sets in its <config>.
struct PlatformOption {
  std::string name, value;
  int line = 0;
};

/// Those of a platform file with this text, in its order.
std::vector<PlatformOption> options_in(const std::string& text);

/// The text, which is well-formed, without its <config>, with the same lines.
std::string without_options(const std::string& text);

}  // namespace dadsim::sim
