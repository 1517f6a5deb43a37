#pragma once

#include "plan/workload.hpp"

namespace dadsim {

Workload resnet_50_workload();

}  // namespace dadsim
