#include "algorithms/registry.hpp"

#include <algorithm>

#include "algorithms/exact/dad.hpp"
#include "algorithms/exact/edad.hpp"
#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/exact/local_gradient.hpp"
#include "algorithms/flexible/flexible.hpp"
#include "algorithms/forward/forward_gradient.hpp"
#include "algorithms/gossip/choco.hpp"
#include "algorithms/gossip/d2.hpp"
#include "algorithms/gossip/d_psgd.hpp"
#include "algorithms/gossip/gradient_tracking.hpp"
#include "algorithms/gossip/power_gossip.hpp"
#include "algorithms/gossip/sgp.hpp"
#include "algorithms/gossip/sparse_push.hpp"
#include "algorithms/low_rank/cogd.hpp"
#include "algorithms/low_rank/power_sgd.hpp"
#include "algorithms/low_rank/rank_dad.hpp"
#include "algorithms/private/dp_sgd.hpp"
#include "algorithms/private/lsg.hpp"
#include "algorithms/private/rgp.hpp"
#include "algorithms/sign/demo.hpp"
#include "algorithms/sign/one_bit_adam.hpp"
#include "algorithms/sign/sign_sgd.hpp"
#include "algorithms/sparse/top_k.hpp"

namespace dadsim::algorithms {

Registry<SynchronousMethod>& algorithm_registry() {
  static Registry<SynchronousMethod> registry{
      "algorithm",
      {pooled_method(),
       no_sharing_method(),
       gradient_sharing_method(),
       dad_method(),
       edad_method(),
       rank_dad_method(),
       power_sgd_method(),
       top_k_method(),
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
       cogd_method()},
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
