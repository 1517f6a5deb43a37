#include "estimate/interruptions.hpp"

#include <cmath>

namespace dadsim::estimate {

double best_interval(const Interruptions& what) {
  const double between = 1 / what.per_second;
  const double checkpoint = what.checkpoint_seconds;
  if (checkpoint >= 2 * between) return between;
  const double ratio = checkpoint / (2 * between);
  return std::sqrt(2 * checkpoint * between) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - checkpoint;
}

double expected_slowdown(const Interruptions& what) {
  const double between = 1 / what.per_second;
  const double every = what.checkpoint_every > 0 ? what.checkpoint_every : best_interval(what);
  return between * std::exp(what.restart_seconds / between) * std::expm1((every + what.checkpoint_seconds) / between) /
         every;
}

}  // namespace dadsim::estimate
