#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod muloco_method() {
  return local_method(
      {.name = "muloco",
       .description =
           "DiLoCo among peers for Muon as the inner optimizer (of <training>), with less outer momentum and "
           "a shorter period.",
       .source = "MuLoCo: Therien et al., arXiv 2505.23725; bentherien/muloco-1, 33cc333, muloco/pytorch/muloco.py "
                 "(period 30, 0.7, 0.6)",
       .payload = "an all-reduce of d, 2 (n - 1) / n d each way, per worker and period",
       .formula = "v ← μ v + η Δ,  θ ← θ − η Δ − μ v",
       .checks = "a constant rate: DiLoCo with the same rate and momentum",
       .defaults = {{"period", "30"}, {"to", "peers"}, {"outer", "nesterov-folded"}, {"outer-momentum", "0.6"}}});
}

}  // namespace dadsim::protocols
