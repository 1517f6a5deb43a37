#pragma once

#include "report/html/about.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// How the scenario's seed deals the classes over its sites. Empty where nothing was learned, and where samples have
/// more than one label. Throws InputError where the data can no longer be read.
report::ClassTable class_table_of(const scenario::Scenario& scenario, const Learned& learned);

}  // namespace dadsim::study
