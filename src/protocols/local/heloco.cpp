#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod heloco_method() {
  return local_method(
      {.name = "heloco",
       .defaults = {{"period", "50"}, {"when", "asynchronous"}, {"outer", "nesterov-aligned"}, {"staleness", "0.5"}}});
}

}  // namespace dadsim::protocols
