#include "algorithms/algorithm.hpp"

namespace dadsim {

void run_step(const AlgorithmInfo& info, Algorithm& algorithm, TrainingStep& step) {
  algorithm.run(step);
  if (info.sharing == Sharing::one_network) step.exchange().sum_other_layers();
}

}  // namespace dadsim
