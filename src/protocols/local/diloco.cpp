#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

/// The inner optimizer is the scenario's; its state stays with the worker.
EventDrivenMethod diloco_method() {
  return local_method(
      {.name = "diloco",
       .description = "Every worker takes many steps on its own; what they have moved by is a gradient for an outer "
                      "optimizer with Nesterov momentum at the server.",
       .source =
           "DiLoCo: Douillard et al., Distributed Low-Communication Training of Language Models, arXiv 2311.08105",
       .payload = "d up and d down, per worker and period; among n peers an all-reduce, 2 (n - 1) / n d each way",
       .defaults = {{"period", "500"}, {"outer", "nesterov"}}});
}

}  // namespace dadsim::protocols
