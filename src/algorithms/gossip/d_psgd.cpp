#include <memory>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/topology.hpp"
#include "algorithms/methods.hpp"

namespace dadsim::algorithms {

/// D-PSGD (Lian et al., NeurIPS 2017, arXiv 1705.09056, algorithm 1): every site has weights of its own and averages
/// them with those of its neighbours in a graph,
///     x_i ← Σ_j W_ij x_j − η g_i(x_i),
/// where sending the x_j overlaps the passes that form g_i. There is no barrier: a site continues once its own
/// neighbours have delivered.
class DPsgd final : public GossipAlgorithm {
 public:
  enum class MixingOrder {
    overlapped,          ///< sends x_j from before this step's gradients, overlapped with the passes
    adapt_then_combine,  ///< x_i ← Σ_j W_ij (x_j − η g_j(x_j)): sent after the gradients have been applied
  };
  explicit DPsgd(MixingOrder order) : order_(order) {}
  void run(OwnWeightsStep& step) override;

 private:
  MixingOrder order_;
};

void DPsgd::run(OwnWeightsStep& step) {
  Field sent;
  OwnWeightsStep::Sending sending;
  const auto send = [&] {
    sent = step.weights();
    sending = step.send(sent);
  };
  if (order_ == MixingOrder::overlapped) send();
  step.compute_gradients();
  step.apply_gradients();
  if (order_ == MixingOrder::adapt_then_combine) send();
  // x_i ← Σ_j W_ij x_j; leaves changes by the gradient since the weights were sent unmixed
  Field x = step.weights();
  step.receive(sending, step.pull_passes(), [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    step.pull(x[b][i], sent[b][i], i, arrived);
  });
  step.set_weights(x);
}

SynchronousMethod d_psgd_method() {
  static constexpr auto kOrder = spec::choice<DPsgd::MixingOrder>(
      "order",
      {{"overlapped", DPsgd::MixingOrder::overlapped}, {"adapt-then-combine", DPsgd::MixingOrder::adapt_then_combine}},
      "overlapped: send weights during the forward and backward pass; adapt-then-combine: send them after the update");
  return {
      {.name = "d-psgd",
       .family = "decentralised",
       .parameters = with_graph(GraphNeeds::doubly_stochastic, {kOrder}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = graph_check(GraphNeeds::doubly_stochastic),
       // Counts the site's weights as sent, and a message of each neighbour.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{2.0 * step::extent::parameters()}; },
       .remark = graph_remark},
      [](const spec::RunSpec& run) { return std::make_unique<DPsgd>(kOrder.of(run.parameters)); }};
}

}  // namespace dadsim::algorithms
