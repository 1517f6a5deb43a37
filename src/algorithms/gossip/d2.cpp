#include <memory>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/fields.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/methods.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns the factor on W − I in the mixing matrix: 1, or 1/2 if an eigenvalue of W is too low.
double mixing_scale_of(const MixingWeights& weights) {
  constexpr double kMargin = 1e-3;
  return least_eigenvalue(weights) > -1.0 / 3.0 + kMargin ? 1.0 : 0.5;
}

std::string d2_remark(const RunFacts& facts) {
  const Topology topology(facts.run.parameters, facts.sites, facts.seed);
  std::string text = graph_remark(facts);
  if (mixing_scale_of(topology.at(0).mixing) < 1)
    text += "; mixes by (I + W) / 2, since W has an eigenvalue of -1/3 or less";
  if (facts.run.absence.goes_without()) text += "; uses the last correction of an absent site";
  return text;
}

/// D² (Tang, Lian, Yan, Zhang, Liu, ICML 2018, arXiv 1803.07068, algorithm 1): the previous step is subtracted, so that
/// the error does not depend on how much the sites' data differ,
///     x(t+1) = W (2x(t) − x(t−1) + m(t) − m(t−1)),  x(1) = W (x(0) + m(0)),  m_i = −η u(g_i).
/// It needs symmetric weights whose eigenvalues are above −1/3. Otherwise (Metropolis–Hastings weights of a ring of
/// even length have −1/3 itself) (I + W) / 2 takes the place of W.
///
/// If sites may miss steps, the same recursion uses a correction c in place of the previous step, as in NIDS and exact
/// diffusion (Li, Shi, Yan, arXiv 1704.07807; Yuan, Ying, Zhao, Sayed, arXiv 1702.05122),
///     φ_i = x_i + m_i + c_i,  x_i ← (W φ)_i,  c_i ← c_i + (W φ)_i − φ_i,  c = 0 at first.
/// An absent site keeps x and c; W covers the sites present, (I + W) / 2 if some are missing. W is symmetric, so Σ c_i
/// stays zero, and sites come to rest when Σ m_i is zero, whoever is absent: at the minimum of all.
class D2 final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override {
    if (scale_ == 0) scale_ = mixing_scale_of(step.topology().at(0).mixing);
    if (step.sites_change()) {
      run_without_some(step);
    } else {
      run_with_all(step);
    }
  }

 private:
  Field mixed(OwnWeightsStep& step, const Field& sent, double scale) {
    OwnWeightsStep::Sending sending = step.send(sent);
    Field next = sent;
    step.receive(sending, step.pull_passes(), [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
      step.pull(next[b][i], sent[b][i], i, arrived, scale);
    });
    return next;
  }

  void run_without_some(OwnWeightsStep& step) {
    if (correction_.empty()) correction_ = step.zeros();
    const Field x = step.weights();
    step.compute_gradients();
    const Field moved = step.apply(step.gradients());
    Field sent = combine(step, {{1, &x}, {1, &moved}, {1, &correction_}});
    for (std::size_t i = 0; i < step.sites(); ++i) {
      if (step.is_there(i)) continue;
      for (std::size_t b = 0; b < step.blocks(); ++b) sent[b][i] = x[b][i];
    }
    const Field x_next = mixed(step, sent, step.everyone_is_there() ? scale_ : 0.5);
    correction_ = combine(step, {{1, &correction_}, {1, &x_next}, {-1, &sent}});
    step.set_weights(x_next);
  }

  void run_with_all(OwnWeightsStep& step) {
    Field x = step.weights();
    step.compute_gradients();
    Field moved = step.move_by_gradients();
    const Field sent = x_.empty() ? combine(step, {{1, &x}, {1, &moved}})
                                  : combine(step, {{2, &x}, {-1, &x_}, {1, &moved}, {-1, &moved_}});
    x_ = std::move(x);
    moved_ = std::move(moved);
    step.set_weights(mixed(step, sent, scale_));
  }

  Field x_, moved_;   ///< values of the previous step; empty before the first
  Field correction_;  ///< c; empty before the first step
  double scale_ = 0;
};

}  // namespace

SynchronousMethod d2_method() {
  return {
      {.name = "d2",
       .family = "decentralised",
       .parameters = with_graph(GraphNeeds::undirected_fixed, {}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = [](const RunFacts& facts) { return graph_faults(GraphNeeds::undirected_fixed, facts); },
       // Counts weights and move of the previous step, and a message.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{3.0 * step::extent::parameters()}; },
       .remark = d2_remark},
      [](const spec::RunSpec&) { return std::make_unique<D2>(); }};
}

}  // namespace dadsim::algorithms
