#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod local_sgd_method() {
  return local_method({.name = "local-sgd", .defaults = {{"period", "8"}, {"outer", "mean"}}});
}

}  // namespace dadsim::protocols
