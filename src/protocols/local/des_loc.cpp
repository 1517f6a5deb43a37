#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod des_loc_method() {
  return local_method(
      {.name = "des-loc",
       .description = "Local Adam whose weights and moments are averaged among peers, each with a period of its own.",
       .source = "DES-LOC: Iacob et al., arXiv 2505.22549: first moments every 3 periods, second ones every 6",
       .payload = "an all-reduce of d per period, and of d more whenever a moment is due",
       .formula = "θ ← mean θ_i every K steps,  m ← mean m_i every 3 K,  v ← mean v_i every 6 K",
       .checks = "both moments every period: local Adam whose workers agree after each round",
       .defaults =
           {{"period", "16"}, {"to", "peers"}, {"outer", "mean"}, {"first-moments", "3"}, {"second-moments", "6"}},
       .averages_moments = true});
}

}  // namespace dadsim::protocols
