#include "algorithms/registry.hpp"

#include <algorithm>

#include "algorithms/dad.hpp"
#include "algorithms/edad.hpp"
#include "algorithms/factored/cogd.hpp"
#include "algorithms/flexible/flexible.hpp"
#include "algorithms/forward/forward_gradient.hpp"
#include "algorithms/gossip/choco.hpp"
#include "algorithms/gossip/d2.hpp"
#include "algorithms/gossip/d_psgd.hpp"
#include "algorithms/gossip/gradient_tracking.hpp"
#include "algorithms/gossip/power_gossip.hpp"
#include "algorithms/gossip/sgp.hpp"
#include "algorithms/gossip/sparse_push.hpp"
#include "algorithms/gradient_sharing.hpp"
#include "algorithms/local_gradient.hpp"
#include "algorithms/power_sgd.hpp"
#include "algorithms/private/dp_sgd.hpp"
#include "algorithms/private/lsg.hpp"
#include "algorithms/private/rgp.hpp"
#include "algorithms/rank_dad.hpp"
#include "algorithms/sign/demo.hpp"
#include "algorithms/sign/one_bit_adam.hpp"
#include "algorithms/sign/sign_sgd.hpp"
#include "algorithms/top_k.hpp"

namespace dadsim::algorithms {

Registry<AlgorithmInfo>& algorithm_registry() {
  static Registry<AlgorithmInfo> registry{
      "algorithm",
      {pooled_info(),
       no_sharing_info(),
       gradient_sharing_info(),
       dad_info(),
       edad_info(),
       rank_dad_info(),
       power_sgd_info(),
       top_k_info(),
       sign_sgd_info(),
       one_bit_adam_info(),
       demo_info(),
       flexible_info(),
       d_psgd_info(),
       d2_info(),
       gradient_tracking_info(),
       choco_info(),
       power_gossip_info(),
       sgp_info(),
       sparse_push_info(),
       dp_sgd_info(),
       rgp_info(),
       lsg_info(),
       forward_gradient_info(),
       cogd_info()},
  };
  return registry;
}

const AlgorithmInfo& baseline() {
  const auto& all = algorithm_registry().all();
  return *std::ranges::find(all, true, &AlgorithmInfo::is_baseline);
}

const AlgorithmInfo& first_of(Sharing sharing) {
  const auto& all = algorithm_registry().all();
  return *std::ranges::find(all, sharing, &AlgorithmInfo::sharing);
}

spec::ParameterValues default_parameters(const AlgorithmInfo& info) {
  spec::ParameterValues values;
  for (const spec::ParameterSpec& parameter : info.parameters) values[parameter.name] = parameter.default_value;
  return values;
}

}  // namespace dadsim::algorithms
