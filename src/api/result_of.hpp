#pragma once

#include "api/dadsim.hpp"
#include "report/run/result.hpp"

namespace dadsim::api::inline v1 {

Result result_of(report::Result&& from);

}  // namespace dadsim::api::inline v1
