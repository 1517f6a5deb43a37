#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod gasloc_method() {
  return local_method(
      {.name = "gasloc",
       .defaults = {{"period", "50"}, {"to", "graph"}, {"outer", "nesterov-folded"}, {"outer-rate", "0.7"}}});
}

}  // namespace dadsim::protocols
