#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// A catalogue that a command of its own prints; docs/catalog/NAME.txt holds the same text.
struct Listing {
  std::string name;     ///< of the command
  std::string summary;  ///< for the usage text
  std::string (*text)();
};

const std::vector<Listing>& listings();

/// nullptr if there is none of that name.
const Listing* find_listing(const std::string& name);

}  // namespace dadsim::cli
