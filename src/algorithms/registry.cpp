#include "algorithms/registry.hpp"

#include <stdexcept>

#include "algorithms/dad.hpp"
#include "algorithms/edad.hpp"
#include "algorithms/gradient_sharing.hpp"
#include "algorithms/local_gradient.hpp"
#include "algorithms/power_sgd.hpp"
#include "algorithms/rank_dad.hpp"
#include "algorithms/top_k.hpp"

namespace dadsim::algorithms {

const std::vector<AlgorithmInfo>& algorithm_registry() {
  static const std::vector<AlgorithmInfo> registry{
      pooled_info(), no_sharing_info(), gradient_sharing_info(), dad_info(),
      edad_info(),   rank_dad_info(),   power_sgd_info(),        top_k_info(),
  };
  return registry;
}

const AlgorithmInfo& find_algorithm(const std::string& name) {
  for (const AlgorithmInfo& info : algorithm_registry()) {
    if (info.name == name) return info;
  }
  throw std::out_of_range("no algorithm '" + name + "'");
}

spec::ParameterValues default_parameters(const AlgorithmInfo& info) {
  spec::ParameterValues values;
  for (const spec::ParameterSpec& parameter : info.parameters) values[parameter.name] = parameter.default_value;
  return values;
}

}  // namespace dadsim::algorithms
