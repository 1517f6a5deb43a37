#pragma once

#include <string>

#include "algorithms/registry.hpp"

namespace dadsim::test {

/// A run of an algorithm of the registry with these parameters, the others at their defaults.
inline spec::RunSpec run_of(const std::string& algorithm, spec::ExchangeMode exchange,
                            const spec::ParameterValues& given = {}) {
  spec::RunSpec run = methods::run_of(algorithms::algorithm_registry().at(algorithm), given);
  run.exchange = exchange;
  return run;
}

}  // namespace dadsim::test
