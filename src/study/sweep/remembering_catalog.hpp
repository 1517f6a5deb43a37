#pragma once

#include "scenario/language/catalog.hpp"

namespace dadsim::study {

/// Returns a catalogue that wraps `catalog`, but examines each platform and data source only once: the points of a
/// sweep ask for the same ones thousands of times. Platforms that differ only in bandwidths, latencies and the like are
/// equal: hosts and routes do not depend on them. Several threads may use it at once.
scenario::Catalog remembering(scenario::Catalog catalog);

}  // namespace dadsim::study
