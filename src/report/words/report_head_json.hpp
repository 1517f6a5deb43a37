#pragma once

#include "report/text/json_values.hpp"
#include "report/words/report_head.hpp"

namespace dadsim::report {

/// The members "dadsim" and "scenario", which the JSON of a report begins with.
Json head_in_json(const ReportHead& head);

}  // namespace dadsim::report
