#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

/// The inner optimizer is the scenario's; its state stays with the worker.
EventDrivenMethod diloco_method() {
  return local_method({.name = "diloco", .defaults = {{"period", "500"}, {"outer", "nesterov"}}});
}

}  // namespace dadsim::protocols
