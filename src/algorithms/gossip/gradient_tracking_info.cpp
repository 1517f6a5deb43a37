#include <memory>

#include "algorithms/gossip/gradient_tracking.hpp"
#include "algorithms/gossip/topology.hpp"

namespace dadsim::algorithms {

SynchronousMethod gradient_tracking_method() {
  return {
      {.name = "gradient-tracking",
       .description = "Sites mix their weights and a direction that follows the mean of all gradients.",
       .source =
           "Pu, Nedić, Distributed Stochastic Gradient Tracking Methods, Mathematical Programming 187, 2021, arXiv "
           "1805.11454",
       .payload = "2pq, and twice the q biases, to every neighbour",
       .family = "decentralised",
       .formula = "y_i ← Σ_j W_ij y_j + g_i(x_i) − g_i(x_i of the step before), y_i = g_i at first\n"
                  "x_i ← Σ_j W_ij (x_j − η u(y_j))",
       .compute = "passes over the weights: the direction, two sums of what has arrived",
       .checks =
           "Logistic regression on sites with labels of their own, whole batches, constant η: comes to the common "
           "minimum "
           "where D-PSGD does not (tests/algorithms/gossip/tracking_test.cpp)",
       .parameters = with_graph(GraphNeeds::doubly_stochastic, {}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = [](const RunFacts& facts) { return graph_faults(GraphNeeds::doubly_stochastic, facts); },
       // y, the gradient before, and a message of two.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{4.0 * step::extent::parameters()}; },
       .remark =
           [](const RunFacts& facts) {
             std::string graph = graph_remark(facts);
             if (!facts.run.absence.goes_without()) return graph;
             return graph + (graph.empty() ? "" : "; ") +
                    "a site that is away counts in the direction with the gradient that it had last";
           }},
      [](const spec::RunSpec&) { return std::make_unique<GradientTracking>(); }};
}

}  // namespace dadsim::algorithms
