
#include <memory>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/fields.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/topology.hpp"
#include "algorithms/methods.hpp"

namespace dadsim::algorithms {
namespace {

/// Distributed stochastic gradient tracking (Pu, Nedić, Mathematical Programming 187, 2021, arXiv 1805.11454, DSGT):
/// next to x_i every site has y_i, which follows the mean of the gradients of all sites,
///     x_i ← Σ_j W_ij (x_j − η u(y_j));  y_i ← Σ_j W_ij y_j + g_i(new x_i) − g_i(old x_i),  y_i = g_i at first.
/// The mean of the y_i is the mean of the g_i, so that sites with different data do not drift apart. One message
/// carries both.
///
/// If sites miss a step, W covers the sites present, with ones for the absent sites, which keep x_i, y_i and g_i. W
/// stays doubly stochastic (as over varying graphs: Nedić, Olshevsky, Shi, SIAM J. Optimization 27, 2017, arXiv
/// 1607.03218), so that Σ y_i stays the sum of the latest g_i of all sites, present or not. With all y_i zero in
/// consensus no site moves: the minimum is that of all sites.
class GradientTracking final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  Field mixed_;     ///< Σ_j W_ij y_j; empty before the first step
  Field gradient_;  ///< g_i of the previous step
};

}  // namespace

void GradientTracking::run(OwnWeightsStep& step) {
  step.compute_gradients();
  Field gradient = step.gradients();
  const bool is_first = mixed_.empty();
  for (std::size_t i = 0; i < step.sites(); ++i) {
    if (step.is_there(i)) continue;
    if (is_first && gradient_.empty()) gradient_ = mixed_ = step.zeros();
    for (std::size_t b = 0; b < gradient.size(); ++b) gradient[b][i] = gradient_[b][i];
  }
  const Field y = mixed_.empty() ? gradient : combine(step, {{1, &mixed_}, {1, &gradient}, {-1, &gradient_}});
  gradient_ = std::move(gradient);
  step.apply(y);

  const Field sent = step.weights();
  OwnWeightsStep::Sending sending = step.send([&](std::size_t b) {
    const auto rows = [b](const Field& field) {
      return [&field, b](std::size_t site, std::size_t) { return models::ConstBlock(field[b][site]); };
    };
    return NeighbourMessage{{{step::extent::parameters(), rows(sent)}, {step::extent::parameters(), rows(y)}}};
  });
  OwnWeightsStep::Passes passes = step.pull_passes();
  passes = {.flops = 2 * passes.flops, .floats = 2 * passes.floats, .launches = 2 * passes.launches};
  Field x = sent;
  mixed_ = y;
  step.receive(sending, passes, [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    step.pull(x[b][i], sent[b][i], i, arrived, 1, 0);
    step.pull(mixed_[b][i], y[b][i], i, arrived, 1, 1);
  });
  step.set_weights(x);
}

SynchronousMethod gradient_tracking_method() {
  return {
      {.name = "gradient-tracking",
       .family = "decentralised",
       .parameters = with_graph(GraphNeeds::doubly_stochastic, {}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = [](const RunFacts& facts) { return graph_faults(GraphNeeds::doubly_stochastic, facts); },
       // Counts y, the previous gradient, and a message with two fields.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{4.0 * step::extent::parameters()}; },
       .remark =
           [](const RunFacts& facts) {
             std::string graph = graph_remark(facts);
             if (!facts.run.absence.goes_without()) return graph;
             return graph + (graph.empty() ? "" : "; ") + "the direction includes the last gradient of an absent site";
           }},
      [](const spec::RunSpec&) { return std::make_unique<GradientTracking>(); }};
}

}  // namespace dadsim::algorithms
