#pragma once

#include "methods/method.hpp"
#include "spec/parallelism.hpp"
#include "spec/specification.hpp"

namespace dadsim::methods {

/// Returns whether the devices of a worker can divide the method's own step. Otherwise the group of devices runs the
/// passes, and groups exchange messages (study/event_driven/islands.hpp).
bool divides_step(const MethodInfo& info, const spec::RunSpec& run, const spec::ParallelismSpec& how);

}  // namespace dadsim::methods
