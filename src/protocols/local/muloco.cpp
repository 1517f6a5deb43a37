#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod muloco_method() {
  return local_method(
      {.name = "muloco",
       .defaults = {{"period", "30"}, {"to", "peers"}, {"outer", "nesterov-folded"}, {"outer-momentum", "0.6"}}});
}

}  // namespace dadsim::protocols
