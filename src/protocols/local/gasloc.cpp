#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod gasloc_method() {
  return local_method(
      {.name = "gasloc",
       .description =
           "Every worker takes some steps on its own and an outer step with momentum, then averages with its "
           "neighbours in a graph (accelerated gossip).",
       .source = "in the spirit of GASLoC, arXiv 2606.11081, whose constants were not at hand",
       .payload = "d to every neighbour, per worker and period",
       .formula = "v ← μ v + η Δ_i,  p_i = θ_i − η Δ_i − μ v,  θ_i ← p_i − α Σ_j w_ij (p_i − p_j)",
       .checks = "complete graph: DiLoCo with that outer rule\nη near 0: pure gossip, the mean stays",
       .defaults = {{"period", "50"}, {"to", "graph"}, {"outer", "nesterov-folded"}, {"outer-rate", "0.7"}}});
}

}  // namespace dadsim::protocols
