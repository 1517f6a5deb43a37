#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod pier_method() {
  return local_method(
      {.name = "pier",
       .description = "DiLoCo among groups of devices in a data centre, whose outer momentum warms up and decays; "
                      "islands makes the groups.",
       .source = "in the spirit of Pier, arXiv 2511.17849, whose constants were not at hand",
       .payload = "an all-reduce of d among n groups, 2 (n - 1) / n d each way, per period",
       .formula = "v ← μ_t v + Δ,  θ ← θ − η (Δ + μ_t v); μ_t rises from 0, then falls evenly until the last step",
       .checks = "no warm-up and the same final momentum: DiLoCo among peers",
       .defaults = {{"period", "50"},
                    {"to", "peers"},
                    {"outer", "nesterov"},
                    {"outer-warm-up", "10"},
                    {"outer-final-momentum", "0.5"}}});
}

}  // namespace dadsim::protocols
