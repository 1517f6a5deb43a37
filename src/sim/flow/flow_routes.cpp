#include "sim/flow/flow_routes.hpp"

#include <stdexcept>

#include "sim/platform/build/host_zone.hpp"

namespace dadsim::sim {
namespace {

constexpr int kCompared = 16;  // number of paths that are compared with SimGrid's

}  // namespace

FlowRoutes::FlowRoutes(Interconnect& network, const std::vector<simgrid::s4u::Host*>& hosts)
    : network_(network), hosts_(hosts), declared_(declared_network()) {
  if (declared_ == nullptr) return;
  number_of_.reserve(hosts.size());
  for (const simgrid::s4u::Host* host : hosts) number_of_.push_back(number_in_network(*host));
}

const std::vector<std::int32_t>& FlowRoutes::links(std::size_t from, std::size_t to) {
  if (declared_ == nullptr || number_of_[from] == number_of_[to]) {
    return network_[network_.path(hosts_[from], hosts_[to])].links;
  }
  on_route_.clear();
  declared_->route(number_of_[from], number_of_[to], on_route_);
  links_.clear();
  for (simgrid::s4u::Link* link : on_route_) links_.push_back(network_.index_of(link));
  if (compared_ < kCompared) {
    ++compared_;
    if (network_[network_.path(hosts_[from], hosts_[to])].links != links_) {
      throw std::logic_error("a route of SimGrid differs from the declared network");
    }
  }
  return links_;
}

}  // namespace dadsim::sim
