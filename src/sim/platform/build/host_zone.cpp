#include "sim/platform/build/host_zone.hpp"

#include <bit>
#include <set>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <utility>

#include "support/flat_map.hpp"

namespace dadsim::sim {

namespace routing = simgrid::kernel::routing;

class HostZone : public routing::NetZoneImpl {
 public:
  HostZone() : NetZoneImpl("platform") {
    spec::LinkSpec self;
    self.name = "loopback";
    self.bandwidth = 1e10;  // rate of the loopback, byte/s, as in SimGrid's setting network/loopback-bw
    loopback_ = make_link(get_iface(), self.name, self);
    loopback_->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
  }

  void set_network(std::unique_ptr<ClusterNetwork> network) { network_ = std::move(network); }
  const ClusterNetwork* network() const { return network_.get(); }

  void note(const simgrid::s4u::Link* link, const LinkProperties& properties) {
    // Shares equal properties of consecutive links, which is the usual case.
    if (last_ == nullptr || *last_ != properties) last_ = &*properties_.insert(properties).first;
    const LinkProperties* kept = last_;
    *properties_of_.try_emplace(std::bit_cast<std::uintptr_t>(link), kept).first = kept;
  }
  const LinkProperties* noted(const simgrid::s4u::Link* link) const {
    const LinkProperties* const* known = properties_of_.find(std::bit_cast<std::uintptr_t>(link));
    return known == nullptr ? nullptr : *known;
  }

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
  std::set<LinkProperties> properties_;
  const LinkProperties* last_ = nullptr;          ///< properties stored last
  FlatMap<const LinkProperties*> properties_of_;  ///< properties, by address of the link
  Links links_;                                   ///< links of the last requested route; a member to reuse its memory
};

HostZone& make_host_zone() { return *new HostZone; }  // NOLINT: the engine deletes its root zone

simgrid::s4u::NetZone& interface_of(HostZone& zone) { return *zone.get_iface(); }

void set_network(HostZone& zone, std::unique_ptr<ClusterNetwork> network) { zone.set_network(std::move(network)); }

namespace {

const HostZone* zone_of_engine() {
  return dynamic_cast<const HostZone*>(simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_impl());
}

}  // namespace

void note_properties(simgrid::s4u::NetZone& zone, const simgrid::s4u::Link* link, const LinkProperties& properties) {
  if (auto* own = dynamic_cast<HostZone*>(zone.get_impl())) own->note(link, properties);
}

const LinkProperties* noted_properties(const simgrid::s4u::Link* link) {
  const HostZone* zone = zone_of_engine();
  return zone == nullptr ? nullptr : zone->noted(link);
}

const ClusterNetwork* declared_network() {
  const HostZone* zone = zone_of_engine();
  return zone == nullptr ? nullptr : zone->network();
}

std::int64_t number_in_network(const simgrid::s4u::Host& host) {
  return static_cast<std::int64_t>(host.get_netpoint()->id());
}

}  // namespace dadsim::sim
