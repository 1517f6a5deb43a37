#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod heloco_method() {
  return local_method(
      {.name = "heloco",
       .description =
           "Asynchronous DiLoCo whose server corrects every change of a matrix that points against its outer "
           "momentum; nobody waits.",
       .source = "in the spirit of HeLoCo, arXiv 2606.00271, whose constants were not at hand",
       .payload = "d up and d down, per worker and period",
       .formula = "Δ_b turned to v_b or shrunk along it by the cosine of the two, for every matrix b\n"
                  "v ← μ v + ρ Δ,  θ ← θ − η (ρ Δ + μ v),  ρ = (1 + s)^−a of a change from s updates ago",
       .checks = "outer-align −1: asynchronous DiLoCo\none worker, and outer-align −1: DiLoCo",
       .defaults = {{"period", "50"}, {"when", "asynchronous"}, {"outer", "nesterov-aligned"}, {"staleness", "0.5"}}});
}

}  // namespace dadsim::protocols
