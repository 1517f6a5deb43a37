#include "algorithms/low_rank/rank_dad.hpp"

#include "algorithms/pieces/table_rows.hpp"

namespace dadsim::algorithms {

void RankDad::run(TrainingStep& step) {
  std::vector<Pending<Rows>> shared(step.matrices());
  memory_.resize(step.matrices());
  step.forward();
  sweep_back(step, table_rows_, [&](std::size_t l) {
    if (step.is_embedding(l)) {
      shared[l] = share_table_rows(step, l);
    } else {
      FactorMemory* memory = remembers_ ? &memory_[l] : nullptr;
      const SiteFactors own = factorise_sites(step, l, options_, memory);  // r_s × (in + out)
      shared[l] = step.exchange().combine(
          own.contribution(),
          mode_ == Mode::two_way ? refactorise(step, l, options_, step::extent::rows(), memory) : keep_all(step, l));
    }
    step.backpropagate(l);
  });
  sweep_back(step, table_rows_, [&](std::size_t l) {
    if (step.is_embedding(l)) {
      add_table_rows(step, l, shared[l].wait());
    } else {
      step.gradient(l) = multiply(step, l, shared[l].wait());
    }
  });
}

}  // namespace dadsim::algorithms
