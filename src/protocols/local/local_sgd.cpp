#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod local_sgd_method() {
  return local_method(
      {.name = "local-sgd",
       .description = "Every worker takes some steps on its own, then all wait for each other and take the mean of "
                      "their weights (local SGD; post-local SGD).",
       .source = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019, arXiv 1805.09767; Lin et al., "
                 "Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020, arXiv 1808.07217",
       .payload = "d up and d down, per worker and period",
       .defaults = {{"period", "8"}, {"outer", "mean"}}});
}

}  // namespace dadsim::protocols
