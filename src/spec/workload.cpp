#include "spec/workload.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "spec/workloads/families.hpp"

namespace dadsim::spec {

Registry<Workload>& workload_registry() {
  static Registry<Workload> registry = [] {
    std::vector<Workload> all;
    for (const auto& family : {resnet_workloads, vgg_workloads, vit_workloads, bert_workloads, gpt_workloads,
                               llama_workloads, lstm_workloads}) {
      std::ranges::move(family(), std::back_inserter(all));
    }
    return Registry<Workload>("workload", std::move(all));
  }();
  return registry;
}

}  // namespace dadsim::spec
