#include "algorithms/gossip/d_psgd.hpp"

#include <fmt/format.h>

namespace dadsim::algorithms {

void DPsgd::run(OwnWeightsStep& step) {
  if (order_ == Order::overlapped) step.send_weights();
  step.compute_gradients();
  step.apply_gradients();
  if (order_ == Order::adapt_then_combine) step.send_weights();
  step.mix();
}

AlgorithmInfo d_psgd_info() {
  return {
      .name = "d-psgd",
      .description = "Every site has weights of its own and averages them with those of its neighbours in a graph.",
      .source =
          "Lian et al., Can Decentralized Algorithms Outperform Centralized Algorithms?, NeurIPS 2017, arXiv "
          "1705.09056; Metropolis-Hastings weights",
      .payload = "pq, and the q biases, to every neighbour",
      .sharing = Sharing::own_weights,
      .exact = false,
      .parameters = {graph_parameter(),
                     {.name = "order",
                      .type = spec::ParameterSpec::Type::choice,
                      .minimum = 0,
                      .maximum = 0,
                      .default_value = "overlapped",
                      .choices = {"overlapped", "adapt-then-combine"},
                      .description = "overlapped: weights travel beside the passes; adapt-then-combine: once the "
                                     "gradients have been applied"}},
      .make_gossip =
          [](const spec::ParameterValues& values) {
            return std::make_unique<DPsgd>(values.at("order") == "overlapped" ? DPsgd::Order::overlapped
                                                                              : DPsgd::Order::adapt_then_combine);
          },
      // Its own weights as they were sent, and a message of each neighbour.
      .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{2.0 * step::extent::parameters()}; },
      .remark = graph_remark};
}

}  // namespace dadsim::algorithms
