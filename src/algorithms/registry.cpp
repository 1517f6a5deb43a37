#include "algorithms/registry.hpp"

#include "algorithms/dad.hpp"
#include "algorithms/edad.hpp"
#include "algorithms/gossip/d_psgd.hpp"
#include "algorithms/gradient_sharing.hpp"
#include "algorithms/local_gradient.hpp"
#include "algorithms/power_sgd.hpp"
#include "algorithms/rank_dad.hpp"
#include "algorithms/top_k.hpp"

namespace dadsim::algorithms {

Registry<AlgorithmInfo>& algorithm_registry() {
  static Registry<AlgorithmInfo> registry{
      "algorithm",
      {pooled_info(), no_sharing_info(), gradient_sharing_info(), dad_info(), edad_info(), rank_dad_info(),
       power_sgd_info(), top_k_info(), d_psgd_info()},
  };
  return registry;
}

spec::ParameterValues default_parameters(const AlgorithmInfo& info) {
  spec::ParameterValues values;
  for (const spec::ParameterSpec& parameter : info.parameters) values[parameter.name] = parameter.default_value;
  return values;
}

}  // namespace dadsim::algorithms
