#pragma once

#include <string>
#include <vector>

#include "plan/layer_shape.hpp"

namespace dadsim {

/// A network too large to learn here that can be timed: its shapes, and where they come from.
struct Workload {
  std::string name;  ///< as in <timed-as workload="…">
  std::string description;
  std::string source;  ///< paper and what the totals were checked against
  ModelShape (*shape)();
};

/// Every workload. One file under plan/workloads/ and one line in the registry each.
const std::vector<Workload>& workload_registry();

/// The workload of that name, or nullptr.
const Workload* find_workload(const std::string& name);

}  // namespace dadsim
