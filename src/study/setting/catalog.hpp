#pragma once

#include "scenario/language/catalog.hpp"

namespace dadsim::study {

/// What scenarios may refer to in this build: algorithms, devices, workloads, and the checks of platform and data
/// files.
scenario::Catalog make_catalog();

}  // namespace dadsim::study
