#pragma once

#include "plan/workload.hpp"

namespace dadsim {

Workload vit_b_16_workload();

}  // namespace dadsim
