#include "sim/platform/build/host_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <utility>

namespace dadsim::sim {

namespace routing = simgrid::kernel::routing;

class HostZone : public routing::NetZoneImpl {
 public:
  HostZone() : NetZoneImpl("platform") {
    spec::LinkSpec self;
    self.name = "loopback";
    self.bandwidth = 1e10;  // byte/s, to itself: as SimGrid's setting network/loopback-bw
    loopback_ = make_link(*get_iface(), self.name, self);
    loopback_->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
  }

  void set_network(std::unique_ptr<ClusterNetwork> network) { network_ = std::move(network); }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to, routing::Route* into,
                       double* latency) override {
    links_.clear();
    if (from == to) {
      links_.push_back(loopback_);
    } else {
      network_->route(static_cast<std::int64_t>(from->id()), static_cast<std::int64_t>(to->id()), links_);
    }
    into->link_list_.reserve(into->link_list_.size() + links_.size());
    for (const simgrid::s4u::Link* link : links_) {
      into->link_list_.push_back(link->get_impl());
      if (latency != nullptr) *latency += link->get_latency();
    }
  }

 private:
  simgrid::s4u::Link* loopback_ = nullptr;
  std::unique_ptr<ClusterNetwork> network_;
  Links links_;  ///< of the route that was asked for last: keeps its memory
};

HostZone& make_host_zone() { return *new HostZone; }  // NOLINT: the engine deletes its root zone

simgrid::s4u::NetZone& interface_of(HostZone& zone) { return *zone.get_iface(); }

void set_network(HostZone& zone, std::unique_ptr<ClusterNetwork> network) { zone.set_network(std::move(network)); }

}  // namespace dadsim::sim
