#pragma once

#include <string>
#include <vector>

#include "spec/parameter.hpp"

namespace dadsim::cli {

/// A catalogue that a command of its own prints; docs/catalog/NAME.txt holds the same text.
struct Listing {
  std::string name;     ///< name of the command
  std::string summary;  ///< for the usage text
  std::string (*text)();
};

/// The values that a parameter may have: "1 … 8", "a | b".
std::string range_of(const spec::ParameterSpec& parameter);

const std::vector<Listing>& listings();

/// The entries of a listing (between empty lines) that hold all of the words, whatever their case, behind its first
/// paragraph; the listing itself without words.
std::string entries_with(const std::string& listing, const std::vector<std::string>& words);

/// nullptr if there is none of that name.
const Listing* find_listing(const std::string& name);

}  // namespace dadsim::cli
