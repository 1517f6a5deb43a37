#include "protocols/registry.hpp"

#include "algorithms/registry.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

Registry<EventDrivenMethod>& protocol_registry() {
  static Registry<EventDrivenMethod> registry{
      "protocol",
      {
          partial_gradient_sharing_method(),
          partial_dad_method(),
          partial_rank_dad_method(),
          fed_avg_method(),
          fed_prox_method(),
          scaffold_method(),
          fed_opt_method(),
          hier_fed_avg_method(),
          dp_fed_avg_method(),
          fed_buff_method(),
          fed_async_method(),
          local_sgd_method(),
          diloco_method(),
          streaming_diloco_method(),
          no_loco_method(),
          gasloc_method(),
          factored_gossip_method(),
          sparse_loco_method(),
          sparta_method(),
          des_loc_method(),
          pier_method(),
          muloco_method(),
          heloco_method(),
          decoupled_diloco_method(),
          dilocox_method(),
          async_sgd_method(),
          ad_psgd_method(),
          flare_method(),
      },
  };
  return registry;
}

std::vector<const MethodInfo*> all_methods() {
  std::vector<const MethodInfo*> all;
  for (const MethodInfo& info : algorithms::algorithm_registry().all()) all.push_back(&info);
  for (const MethodInfo& info : protocol_registry().all()) all.push_back(&info);
  return all;
}

const MethodInfo* find_method(const std::string& name) {
  if (const MethodInfo* info = algorithms::algorithm_registry().find(name)) return info;
  return protocol_registry().find(name);
}

}  // namespace dadsim::protocols
