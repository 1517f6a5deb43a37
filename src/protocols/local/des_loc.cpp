#include "protocols/local/local_method.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

EventDrivenMethod des_loc_method() {
  return local_method(
      {.name = "des-loc",
       .defaults =
           {{"period", "16"}, {"to", "peers"}, {"outer", "mean"}, {"first-moments", "3"}, {"second-moments", "6"}},
       .averages_moments = true});
}

}  // namespace dadsim::protocols
