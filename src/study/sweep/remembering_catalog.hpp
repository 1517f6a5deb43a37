#pragma once

#include "scenario/language/catalog.hpp"

namespace dadsim::study {

/// A catalogue that knows what `catalog` does, but looks at each platform and each source of data only once: the points
/// of a sweep ask for the same ones thousands of times. Platforms that differ in bandwidths, latencies and the like
/// alone are the same: hosts and routes do not depend on them. May be asked by several threads at once.
scenario::Catalog remembering(scenario::Catalog catalog);

}  // namespace dadsim::study
