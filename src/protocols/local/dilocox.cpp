#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod dilocox_method() {
  return local_method(
      {.name = "dilocox",
       .description = "DiLoCo in four bits a number whose exchange happens during the next round's steps: every outer "
                      "step is one round late.",
       .source = "in the spirit of DiLoCoX, arXiv 2506.21263, through an aggregator or a store; its low rank, whose "
                 "adaption was not at hand, is left out",
       .payload = "d / 8 and a scale per matrix up, d down, per worker and period",
       .formula = "Δ_i,t = θ_t − θ_i,t after H steps from θ_t;  θ_t+1 = outer step from θ_t with the mean of Δ_i,t−1",
       .checks = "one worker, lossless: DiLoCo with a delay of one round",
       .defaults = {{"period", "50"},
                    {"when", "overlap"},
                    {"encoding", "e3m0"},
                    {"outer", "nesterov"},
                    {"outer-rate", "0.4"},
                    {"outer-momentum", "0.6"}}});
}

}  // namespace dadsim::protocols
