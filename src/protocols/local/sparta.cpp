#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod sparta_method() {
  return local_method(
      {.name = "sparta", .defaults = {{"period", "1"}, {"to", "peers"}, {"sends", "subset"}, {"outer", "mean"}}});
}

}  // namespace dadsim::protocols
