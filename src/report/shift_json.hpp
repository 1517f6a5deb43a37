#pragma once

#include "report/json_values.hpp"
#include "report/shift_evaluation.hpp"

namespace dadsim::report {

/// docs/output-json.md explains the fields.
Json to_json_object(const ShiftEvaluation& evaluation);

}  // namespace dadsim::report
