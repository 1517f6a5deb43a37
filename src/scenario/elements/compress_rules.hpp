#pragma once

#include <optional>
#include <string>

#include "scenario/language/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::scenario {

/// Why an algorithm cannot be combined with a compressor; none: it can. `parameters` of the algorithm.
std::optional<Fault> refuse_compressor(const Catalog::Algorithm& algorithm, const spec::ParameterValues& parameters,
                                       const Catalog::Compressor& compressor);

}  // namespace dadsim::scenario
