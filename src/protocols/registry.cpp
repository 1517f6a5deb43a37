#include "protocols/registry.hpp"

#include "algorithms/registry.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

Registry<EventDrivenMethod>& protocol_registry() {
  static Registry<EventDrivenMethod> registry{
      "protocol",
      joined<EventDrivenMethod>({{partial_gradient_sharing_method(), partial_dad_method(), partial_rank_dad_method(),
                                  fed_avg_method(), fed_prox_method(), scaffold_method(), fed_opt_method(),
                                  hier_fed_avg_method(), dp_fed_avg_method(), fed_buff_method(), fed_async_method()},
                                 local_methods(),
                                 {async_sgd_method(), ad_psgd_method(), flare_method()}}),
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
