#pragma once

#include "scenario/catalog.hpp"

namespace dadsim::study {

/// The same catalogue, which looks at each platform and each source of data once: the points of a sweep ask for the
/// same ones thousands of times. Platforms that differ in bandwidths, latencies and the like alone are the same: hosts
/// and routes do not depend on them. May be asked by several threads at once.
scenario::Catalog remembering(scenario::Catalog catalog);

}  // namespace dadsim::study
