#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod pier_method() {
  return local_method({.name = "pier",
                       .defaults = {{"period", "50"},
                                    {"to", "peers"},
                                    {"outer", "nesterov"},
                                    {"outer-warm-up", "10"},
                                    {"outer-final-momentum", "0.5"}}});
}

}  // namespace dadsim::protocols
