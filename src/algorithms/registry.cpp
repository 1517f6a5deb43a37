#include "algorithms/registry.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/methods.hpp"
#include "spec/islands.hpp"

namespace dadsim::algorithms {
namespace {

/// Lets sites be groups of devices, unless the method offers several ways of sharing a layer.
std::vector<SynchronousMethod> with_islands(std::vector<SynchronousMethod> methods) {
  for (SynchronousMethod& method : methods) {
    if (method.communicates() && method.statistics.empty()) method.parameters.emplace_back(spec::kIslands);
  }
  return methods;
}

}  // namespace

Registry<SynchronousMethod>& algorithm_registry() {
  static Registry<SynchronousMethod> registry{
      "algorithm",
      with_islands({pooled_method(),
                    no_sharing_method(),
                    gradient_sharing_method(),
                    dad_method(),
                    sfb_method(),
                    edad_method(),
                    rank_dad_method(),
                    power_sgd_method(),
                    acp_sgd_method(),
                    dion_method(),
                    top_k_method(),
                    ef21_method(),
                    sign_sgd_method(),
                    one_bit_adam_method(),
                    demo_method(),
                    flexible_method(),
                    d_psgd_method(),
                    d2_method(),
                    gradient_tracking_method(),
                    choco_method(),
                    power_gossip_method(),
                    sgp_method(),
                    sparse_push_method(),
                    dp_sgd_method(),
                    rgp_method(),
                    lsg_method(),
                    forward_gradient_method(),
                    cogd_method()}),
  };
  return registry;
}

const SynchronousMethod& baseline() {
  const auto& all = algorithm_registry().all();
  return *std::ranges::find(all, true, &MethodInfo::is_baseline);
}

const SynchronousMethod& first_of(Sharing sharing) {
  const auto& all = algorithm_registry().all();
  return *std::ranges::find(all, sharing, &MethodInfo::sharing);
}

}  // namespace dadsim::algorithms
