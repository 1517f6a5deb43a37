#include "sim/network/tcp.hpp"
#include "sim/network/tcp_constants.csv.hpp"

namespace dadsim::sim::tcp {

const Fitted& fitted() {
  static const auto kFitted =
      read_constants<Fitted>(tables::kTcpConstants, {{"software", &Fitted::software},
                                                     {"cluster software", &Fitted::cluster_software},
                                                     {"kept window", &Fitted::kept_window},
                                                     {"cold window", &Fitted::cold_window},
                                                     {"cold burst", &Fitted::cold_burst},
                                                     {"grown window", &Fitted::grown_window},
                                                     {"opposite filling", &Fitted::opposite_filling},
                                                     {"corner", &Fitted::corner},
                                                     {"recovery", &Fitted::recovery},
                                                     {"cushion", &Fitted::cushion},
                                                     {"overflow width", &Fitted::overflow_width},
                                                     {"matching loss", &Fitted::matching_loss}});
  return kFitted;
}

}  // namespace dadsim::sim::tcp
