#include "examples/gossip/twice.hpp"

#include <memory>

namespace dadsim::algorithms {

void Twice::run(OwnWeightsStep& step) {
  step.compute_gradients();
  step.apply_gradients();
  for (int i = 0; i < 2; ++i) {
    const Field sent = step.weights();
    OwnWeightsStep::Sending sending = step.send(sent);
    Field x = sent;
    step.receive(sending, step.pull_passes(),
                 [&](std::size_t block, std::size_t site, const std::vector<Arrived>& arrived) {
                   step.pull(x[block][site], sent[block][site], site, arrived);
                 });
    step.set_weights(x);
  }
}

SynchronousMethod twice_method() {
  return {{.name = "example-twice",
           .family = "decentralised",
           .parameters = graph_parameters(GraphNeeds::doubly_stochastic),
           .sharing = Sharing::own_weights,
           .forgets = methods::kSendsWeights,
           .check = graph_check(GraphNeeds::doubly_stochastic),
           .remark = graph_remark},
          [](const spec::RunSpec&) { return std::make_unique<Twice>(); }};
}

}  // namespace dadsim::algorithms
