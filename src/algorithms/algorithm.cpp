#include "algorithms/algorithm.hpp"

#include "algorithms/training_step.hpp"

namespace dadsim::algorithms {

void run_step(const AlgorithmInfo& info, Algorithm& algorithm, TrainingStep& step) {
  step.set_sharing(info.sharing == Sharing::one_network);
  algorithm.run(step);
  step.finish();
}

}  // namespace dadsim::algorithms
