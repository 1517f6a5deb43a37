#pragma once

#include "plan/workload.hpp"

namespace dadsim {

Workload bert_base_workload();
Workload bert_large_workload();

}  // namespace dadsim
