#pragma once

#include <optional>
#include <string>

#include "scenario/catalog.hpp"

namespace dadsim::scenario {

/// Why an algorithm does not go with a compressor: what is wrong, and what would be right.
struct CompressRefusal {
  std::string what, remedy;
};

/// None: they go together. `parameters` of the algorithm.
std::optional<CompressRefusal> refuse_compressor(const Catalog::Algorithm& algorithm,
                                                 const spec::ParameterValues& parameters,
                                                 const Catalog::Compressor& compressor);

}  // namespace dadsim::scenario
