#include "sim/network_use.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <tuple>

namespace dadsim {

void describe_links(const Network& network, NetworkUse& use) {
  std::map<std::tuple<Transport, std::string, double, double>, double> count;
  for (const NetworkLink& link : network.links()) {
    ++count[{link.use.transport, link.use.link_class, link.bandwidth, link.use.efficiency}];
  }
  for (const auto& [kind, links] : count) {
    const auto& [transport, name, bandwidth, efficiency] = kind;
    use.links.push_back({name, to_string(transport), describe(transport), bandwidth, efficiency, links});
  }
}

}  // namespace dadsim
