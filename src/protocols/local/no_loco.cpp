#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod no_loco_method() {
  return local_method(
      {.name = "noloco",
       .description = "Every worker takes some steps on its own, then meets a random partner; its outer momentum pulls "
                      "it towards the mean of the two. Nobody waits for all.",
       .source = "NoLoCo: Kolehmainen et al., arXiv 2506.10911; gensyn-ai/noloco, a1b4a42, "
                 "src/noloco/sparse_optimizer_c.py and its configurations (period 50, 0.5, 0.7)",
       .payload = "2d to one partner and 2d back, per worker and period",
       .formula = "δ ← α δ − β mean Δ + γ (mean θ − θ),  θ ← θ + δ, means over the worker and its partner",
       .checks =
           "no gradients, many workers: the variance shrinks by 0.70 a round with α 0.5 and γ 0.7, grows with α 0.9\n"
           "groups of all, α 0: DiLoCo with plain outer steps",
       .defaults = {{"period", "50"},
                    {"to", "pair"},
                    {"outer", "consensus"},
                    {"outer-rate", "0.7"},
                    {"outer-momentum", "0.5"},
                    {"consensus", "0.7"}}});
}

}  // namespace dadsim::protocols
