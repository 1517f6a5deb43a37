#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/parameter.hpp"

namespace dadsim::cli {

/// A catalogue that a separate command prints; docs/catalog/NAME.txt has the same text.
struct Listing {
  std::string name;     ///< name of the command
  std::string summary;  ///< description in the usage text
  std::string (*text)();
};

/// Returns the possible values of a parameter: "1 … 8", "a | b".
std::string range_of(const spec::ParameterSpec& parameter);

const std::vector<Listing>& listings();

/// Returns the first paragraph of a listing, and those of its entries (separated by empty lines) that contain all
/// words, in upper or lower case; a message if no entry does. Without words, returns the whole listing.
std::string entries_with(const std::string& listing, const std::vector<std::string>& words);

/// Returns the listing with this name; nullptr if there is none.
const Listing* find_listing(const std::string& name);

/// Returns the names of a catalogue in its order. `kind` is the name in scenario.xsd and in listings: algorithms,
/// all-gathers, all-reduces, collectives, compressors, devices, frameworks, links, models, reduce-scatters, regions,
/// workloads. Returns none for an unknown kind.
std::vector<std::string> names_of(std::string_view kind);

/// Returns scenario.xsd with the names of the catalogues, so that editors propose them. Names that a scenario defines,
/// and quantities, remain valid.
std::string schema_with_names();

}  // namespace dadsim::cli
