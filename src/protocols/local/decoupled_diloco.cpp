#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod decoupled_diloco_method() {
  return local_method(
      {.name = "decoupled-diloco",
       .defaults = {
           {"period", "24"}, {"when", "quorum"}, {"grace", "5"}, {"average", "direction"}, {"outer", "nesterov"}}});
}

}  // namespace dadsim::protocols
