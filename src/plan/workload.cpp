#include "plan/workload.hpp"

#include <algorithm>

#include "plan/workloads/bert.hpp"
#include "plan/workloads/resnet_50.hpp"
#include "plan/workloads/vit_b_16.hpp"

namespace dadsim {

const std::vector<Workload>& workload_registry() {
  static const std::vector<Workload> registry{
      resnet_50_workload(),
      vit_b_16_workload(),
      bert_base_workload(),
      bert_large_workload(),
  };
  return registry;
}

const Workload* find_workload(const std::string& name) {
  const auto& registry = workload_registry();
  const auto found = std::find_if(registry.begin(), registry.end(), [&](const Workload& w) { return w.name == name; });
  return found == registry.end() ? nullptr : &*found;
}

}  // namespace dadsim
