#pragma once

#include "plan/workload.hpp"

namespace dadsim {

Workload bert_base_workload();

}  // namespace dadsim
