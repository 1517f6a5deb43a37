#include <memory>

#include "algorithms/low_rank/cogd.hpp"
#include "methods/idle_parameters.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

SynchronousMethod cogd_method() {
  static constexpr auto kUpdate =
      spec::choice<Cogd::Update>("update",
                                 {{"synchronous", Cogd::Update::synchronous},
                                  {"alternating", Cogd::Update::alternating},
                                  {"stale", Cogd::Update::stale}},
                                 "synchronous: both factors in every step; alternating: V in even steps and U in "
                                 "odd ones; stale: U with gradients that are some steps old");
  static constexpr spec::IntegerParameter kStaleness{"staleness", 0, 1000, "4",
                                                     "age of the gradients of U in steps, where they are stale"};
  static constexpr spec::RealParameter kStrength{"strength", 0, 10, "0.1", "s; 0: plain gradient descent"};
  static constexpr spec::RealParameter kL1{"l1", 0, 10, "0", "of the penalty on V, by a proximal step"};
  static constexpr spec::RealParameter kCap{"cap", 0, 1e6, "1", "largest length of a u_j; 0: none"};
  return {
      {.name = "cogd",
       .description =
           "Gradient sharing where pairs of dense layers, W = U V^T, are learned in the spirit of cogradient descent.",
       .source = "Wang et al., Cogradient Descent for Bilinear Optimization, CVPR 2020, arXiv 2006.09142, and for "
                 "Dependable Learning, arXiv 2106.10617; details of the rule are assumed",
       .payload = "pq, and the rank of every pair; of a factor that rests nothing",
       .family = "low-rank",
       .formula = "where |v_j|_1 is above its (1 - alpha)-quantile, alpha = (T - t) / 2T, and |u_j| above its median:\n"
                  "u_j += s c_j p_j u_j(t), p_j = min(1, |dv_j| / (|du_j| + 1e-5)), c_j = |dL/dz_j| / max_k |dL/dz_k|\n"
                  "u_j = u_j min(1, cap / |u_j|); V = shrink(V, rate l1)",
       .compute = "Some passes over the factors.",
       .checks =
           "the rule, entry by entry on one step; factors that rest; gradients as old as asked for\n"
           "low-rank network on digits, three seeds: no effect that can be told from none, in any mode (docs/cogd.md)",
       .parameters = {kUpdate, kStaleness, kStrength, kL1, kCap},
       .check =
           [](const RunFacts& facts) {
             return methods::faults_of_idle_parameters(facts.run.parameters, {{kStaleness, kUpdate, {"stale"}}});
           },
       .lossless = {{"update", "synchronous"}},
       // The factors before the step, and gradients that wait.
       .state =
           [](const spec::ParameterValues& values) {
             const double waiting =
                 kUpdate.of(values) == Cogd::Update::stale ? static_cast<double>(kStaleness.of(values)) : 0;
             return estimate::AlgorithmState{(1.0 + waiting) * step::extent::in() * step::extent::out()};
           },
       .remark = [](const RunFacts& facts) -> std::string {
         const std::optional<models::Network> network = network_of(facts);
         if (!network || !factor_pairs(*network).empty()) return "";
         return "cogd finds no pair of dense layers with fewer units and no activation between them: it is gradient "
                "sharing";
       }},
      [](const spec::RunSpec& run) {
        return std::make_unique<Cogd>(Cogd::Options{.update = kUpdate.of(run.parameters),
                                                    .staleness = kStaleness.of(run.parameters),
                                                    .strength = kStrength.of(run.parameters),
                                                    .l1 = kL1.of(run.parameters),
                                                    .cap = kCap.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
