#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod sparta_method() {
  return local_method(
      {.name = "sparta",
       .description =
           "Every worker trains weights of its own; after each step a small random subset of them becomes the "
           "mean over all workers.",
       .source = "SPARTA: exo-explore/gym, 9fa323c, exogym/strategy/sparta.py, which draws every number by chance and "
                 "sends the mask; here ⌈share · n⌉ places a matrix are drawn from the seed that all have",
       .payload = "an all-reduce of share · d, 2 (n - 1) / n share · d each way, per worker and period",
       .formula = "S drawn for the step;  θ_i[S] ← mean over j of θ_j[S]",
       .checks = "share 1: the mean of all weights in every step",
       .defaults = {{"period", "1"}, {"to", "peers"}, {"sends", "subset"}, {"outer", "mean"}}});
}

}  // namespace dadsim::protocols
