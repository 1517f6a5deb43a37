#pragma once

#include "report/run/shift_evaluation.hpp"
#include "report/text/json_values.hpp"

namespace dadsim::report {

/// docs/output-json.md explains the fields.
Json to_json_object(const ShiftEvaluation& evaluation);

}  // namespace dadsim::report
