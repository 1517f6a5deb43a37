#include "examples/twice.hpp"

namespace dadsim::algorithms {

void Twice::run(OwnWeightsStep& step) {
  step.compute_gradients();
  step.apply_gradients();
  for (int i = 0; i < 2; ++i) {
    step.send_weights();
    step.mix();
  }
}

AlgorithmInfo twice_info() {
  return {.name = "example-twice",
          .description = "An example: weights are mixed twice in every step.",
          .source = "tests/examples",
          .payload = "pq, and the q biases, to every neighbour, twice",
          .sharing = Sharing::own_weights,
          .exact = false,
          .parameters = {graph_parameter()},
          .make_gossip = [](const spec::ParameterValues&) { return std::make_unique<Twice>(); },
          .remark = graph_remark};
}

}  // namespace dadsim::algorithms
