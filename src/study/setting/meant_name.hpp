#pragma once

#include <string>
#include <vector>

#include "report/words/statement.hpp"
#include "spec/near_names.hpp"

namespace dadsim::study {

/// Returns the name meant by the text of an option, and adds the assumption to `taken` if the text differs from the
/// name. `usual`: the name preferred among several. Throws InputError with `option`, `unknown` and the nearest names if
/// no name is meant.
std::string meant_name(spec::NameKind kind, const std::string& option, const std::string& typed,
                       const std::vector<std::string>& names, const std::string& unknown,
                       std::vector<report::Statement>& taken, const std::string& usual = {});

/// Returns the names of the catalogue of links.
std::vector<std::string> names_of_links();

}  // namespace dadsim::study
