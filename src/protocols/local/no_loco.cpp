#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod no_loco_method() {
  return local_method({.name = "noloco",
                       .defaults = {{"period", "50"},
                                    {"to", "pair"},
                                    {"outer", "consensus"},
                                    {"outer-rate", "0.7"},
                                    {"outer-momentum", "0.5"},
                                    {"consensus", "0.7"}}});
}

}  // namespace dadsim::protocols
