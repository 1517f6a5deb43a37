#pragma once

#include <string>
#include <vector>

#include "study/composition/composition.hpp"

namespace dadsim::cli {

/// How many pairs answer, axis by axis: for a terminal.
std::string table_of(const study::Composition& composition);
/// docs/composition.md: the same, and every refusal with what would do.
std::string page_of(const study::Composition& composition);
/// Whether one or two words name the two: each a part of the name of one, or its axis.
bool are_named(const std::vector<std::string>& words, const study::Feature& a, const study::Feature& b);
/// What becomes of each pair.
std::string pairs_in_words(const study::Composition& composition);

}  // namespace dadsim::cli
