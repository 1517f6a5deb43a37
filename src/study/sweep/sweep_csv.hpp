#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "study/sweep/results.hpp"

namespace dadsim::study {

/// A line for every point, seed and run (docs/sweep.md).
std::string sweep_csv(const SweepResults& results);
/// The same of a file, part by part. Throws InputError where it is damaged.
void write_sweep_csv(Database& database, const std::function<void(std::string_view)>& put);

}  // namespace dadsim::study
