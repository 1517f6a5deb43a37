#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod sparse_loco_method() {
  return local_method(
      {.name = "sparseloco",
       .description = "DiLoCo among peers whose messages have the largest numbers of every chunk in two bits; a memory "
                      "that fades takes the place of outer momentum.",
       .source =
           "SparseLoCo: Sarfi et al., arXiv 2508.15706; defaults of its sparseloco.yaml (128 of 4096, decay 0.95, "
           "period 15). The outer rate is applied once; the authors' program has it in the memory too",
       .payload = "k (2 + 12) / 8 + 20 bytes a tensor to every peer, k = ⌈share · n⌉, per worker and period",
       .formula = "e_i ← β e_i + Δ_i,  m_i = Q(top k of every chunk of e_i),  e_i ← e_i − m_i,  θ ← θ − η mean m_i",
       .checks = "all numbers as they are: DiLoCo with plain outer steps, and nothing in memory\n"
                 "β 1: what was sent and what is in memory add up to all Δ",
       .defaults = {{"period", "15"},
                    {"to", "peers"},
                    {"encoding", "chunk-top-k"},
                    {"share", "0.03125"},
                    {"memory-decay", "0.95"},
                    {"outer", "sgd"},
                    {"outer-rate", "1"}}});
}

}  // namespace dadsim::protocols
