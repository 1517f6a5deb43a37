#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod decoupled_diloco_method() {
  return local_method(
      {.name = "decoupled-diloco",
       .description = "DiLoCo whose server waits for some workers and a grace alone, and averages directions and "
                      "lengths of their changes apart (RDA).",
       .source = "in the spirit of Decoupled DiLoCo, arXiv 2604.21428, with the whole model as one fragment; a worker "
                 "that has sent its change waits for the end of the round, and counts by its samples",
       .payload = "d up and d down, per worker and period",
       .formula = "D = (Σ w ‖Δ_i‖ / Σ w) · unit(Σ w unit(Δ_i)) for every matrix;  v ← μ v + D,  θ ← θ − η (D + μ v)",
       .checks = "a quorum of all, average all: DiLoCo\nequal changes, or one worker: RDA is the mean\n"
                 "n orthogonal changes of one length: √n times the mean",
       .defaults = {
           {"period", "24"}, {"when", "quorum"}, {"grace", "5"}, {"average", "direction"}, {"outer", "nesterov"}}});
}

}  // namespace dadsim::protocols
