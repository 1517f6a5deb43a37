#pragma once

#include "report/run/result.hpp"
#include "report/text/json_values.hpp"

namespace dadsim::report {

/// What a run's messages reveal, an object per adversary.
Json leak_in_json(const RunResult& run);

}  // namespace dadsim::report
