#pragma once

#include "scenario/language/catalog.hpp"

namespace dadsim::study {

/// What scenarios may refer to in this build: algorithms, devices, workloads, and the checks of platform and data
/// files.
scenario::Catalog make_catalog();
/// The same for scenarios of which nothing will be learned, although they say what (--timing-only).
scenario::Catalog make_catalog_without_learning();

}  // namespace dadsim::study
