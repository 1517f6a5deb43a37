#include "algorithms/gossip/d2.hpp"

#include <memory>
#include <utility>

#include "algorithms/gossip/fields.hpp"

namespace dadsim::algorithms {
namespace {

/// 1, or 1/2 where W itself has too low an eigenvalue.
double mixing_scale_of(const MixingWeights& weights) {
  constexpr double kMargin = 1e-3;
  return least_eigenvalue(weights) > -1.0 / 3.0 + kMargin ? 1.0 : 0.5;
}

std::string d2_remark(const RunFacts& facts) {
  const Topology topology(facts.run.parameters, facts.sites, facts.seed);
  std::string text = graph_remark(facts);
  if (mixing_scale_of(topology.at(0).mixing) < 1)
    text += "; (I + W) / 2 in place of W, which has an eigenvalue of -1/3 or less";
  return text;
}

}  // namespace

void D2::run(OwnWeightsStep& step) {
  if (scale_ == 0) scale_ = mixing_scale_of(step.round().mixing);
  Field x = step.weights();
  step.compute_gradients();
  Field moved = step.move_by_gradients();
  const Field sent = x_.empty() ? combine(step, {{1, &x}, {1, &moved}})
                                : combine(step, {{2, &x}, {-1, &x_}, {1, &moved}, {-1, &moved_}});
  x_ = std::move(x);
  moved_ = std::move(moved);
  OwnWeightsStep::Sending sending = step.send(sent);
  Field mixed = sent;
  step.receive(sending, step.pull_passes(), [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    step.pull(mixed[b][i], sent[b][i], i, arrived, scale_);
  });
  step.set_weights(mixed);
}

SynchronousMethod d2_method() {
  return {
      {.name = "d2",
       .description =
           "Sites mix weights from which the step before has been taken out, so that data that differ do no harm.",
       .source = "Tang, Lian, Yan, Zhang, Liu, D²: Decentralized Training over Decentralized Data, ICML 2018, arXiv "
                 "1803.07068",
       .payload = "pq, and the q biases, to every neighbour",
       .family = "decentralised",
       .formula = "x(t+1) = W (2x(t) − x(t−1) − η u(t) + η u(t−1)), u of g_i; x(1) = W (x(0) − η u(0))",
       .compute = "two passes over the weights: what is sent, and a sum of what has arrived",
       .checks =
           "Logistic regression on sites with labels of their own, whole batches, constant η: comes to the common "
           "minimum "
           "where D-PSGD does not (tests/algorithms/gossip/tracking_test.cpp)",
       .parameters = with_graph(GraphNeeds::undirected_fixed, {}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .needs_all = "what a site sends makes up for the step before, which all have taken",
       .check = graph_check(GraphNeeds::undirected_fixed),
       // Weights and move of the step before, and a message.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{3.0 * step::extent::parameters()}; },
       .remark = d2_remark},
      [](const spec::RunSpec&) { return std::make_unique<D2>(); }};
}

}  // namespace dadsim::algorithms
