#include "algorithms/sign/sign_sgd.hpp"

#include <span>
#include <string>
#include <utility>

namespace dadsim::algorithms {

void SignSgd::run(TrainingStep& step) {
  const step::Expression votes_of_site = step::extent::min({1.0, step::extent::rows()});
  std::vector<Pending<Rows>> elections(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<std::vector<std::uint32_t>> ballots = votes_.cast(step, l);  // sgn(m_s)
    const Contribution::Part part{.width = step::extent::parameters(),
                                  .of = nullptr,
                                  .codes = [&](std::size_t s) { return std::span<const std::uint32_t>(ballots[s]); },
                                  .bits = votes_.bits()};
    elections[l] = step.exchange().combine({votes_of_site, {part}}, votes_.count(step, l));  // V = sgn Σ_s sgn(m_s)
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) { votes_.apply(step, l, elections[l].wait()); });
  SignVotes::apply_to_the_rest(step);
}

}  // namespace dadsim::algorithms
