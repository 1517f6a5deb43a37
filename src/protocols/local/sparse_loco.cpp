#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod sparse_loco_method() {
  return local_method({.name = "sparseloco",
                       .defaults = {{"period", "15"},
                                    {"to", "peers"},
                                    {"encoding", "chunk-top-k"},
                                    {"share", "0.03125"},
                                    {"memory-decay", "0.95"},
                                    {"outer", "sgd"},
                                    {"outer-rate", "1"}}});
}

}  // namespace dadsim::protocols
