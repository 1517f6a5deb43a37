#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod dilocox_method() {
  return local_method({.name = "dilocox",
                       .defaults = {{"period", "50"},
                                    {"when", "overlap"},
                                    {"encoding", "e3m0"},
                                    {"outer", "nesterov"},
                                    {"outer-rate", "0.4"},
                                    {"outer-momentum", "0.6"}}});
}

}  // namespace dadsim::protocols
