#include "spec/workload.hpp"

#include <algorithm>
#include <iterator>

#include "spec/workloads/families.hpp"

namespace dadsim::spec {

const std::vector<Workload>& workload_registry() {
  static const std::vector<Workload> registry = [] {
    std::vector<Workload> all;
    for (const auto& family : {resnet_workloads, vgg_workloads, vit_workloads, bert_workloads, gpt_workloads,
                               llama_workloads, lstm_workloads}) {
      std::ranges::move(family(), std::back_inserter(all));
    }
    return all;
  }();
  return registry;
}

const Workload* find_workload(const std::string& name) {
  const auto& registry = workload_registry();
  const auto found = std::find_if(registry.begin(), registry.end(), [&](const Workload& w) { return w.name == name; });
  return found == registry.end() ? nullptr : &*found;
}

}  // namespace dadsim::spec
