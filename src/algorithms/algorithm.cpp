#include "algorithms/algorithm.hpp"

#include "algorithms/training_step.hpp"

namespace dadsim::algorithms {

std::unique_ptr<Algorithm> make_algorithm(const AlgorithmInfo& info, const spec::RunSpec& run) {
  return info.make_of_run ? info.make_of_run(run) : info.make(run.parameters);
}

bool is_exact(const AlgorithmInfo& info, const spec::RunSpec& run) {
  return info.exact_with ? info.exact_with(run) : info.exact;
}

void run_step(const AlgorithmInfo& info, Algorithm& algorithm, TrainingStep& step) {
  step.set_sharing(info.sharing == Sharing::one_network);
  algorithm.run(step);
  step.finish();
}

}  // namespace dadsim::algorithms
