#pragma once

#include <string>

#include "algorithms/registry.hpp"

namespace dadsim::test {

/// Returns a run of a registered algorithm with these parameters, and defaults for the others.
inline spec::RunSpec run_of(const std::string& algorithm, spec::ExchangeMode exchange,
                            const spec::ParameterValues& given = {}) {
  spec::RunSpec run = methods::run_of(algorithms::algorithm_registry().at(algorithm), given);
  run.exchange = exchange;
  return run;
}

}  // namespace dadsim::test
