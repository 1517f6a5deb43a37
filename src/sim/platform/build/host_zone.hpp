#pragma once

#include <cstdint>
#include <memory>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/link_properties.hpp"
#include "sim/process/compat.hpp"

namespace dadsim::sim {

/// The only zone of a declared platform: it contains the hosts directly, and a ClusterNetwork provides the routes.
///
/// SimGrid's own zones are not used, for three reasons. First, its fat trees, tori and dragonflies give all links one
/// bandwidth, whether they lead to nodes or between switches. They treat a node as one end of a route, so that its
/// adapters share one path, and name links by numbers, without properties. Second, zones that contain a zone per node
/// cost a table of routes per node. Third, in SimGrid 3.32 routes through three levels of zones silently lose links,
/// which one level avoids. The zone overrides NetZoneImpl::get_local_route, SimGrid's hook for zones of all kinds,
/// which is the same from 3.32 to 4.0.
class HostZone;

/// Makes the zone the root of this process's engine, which then owns it.
HostZone& make_host_zone();

simgrid::s4u::NetZone& interface_of(HostZone& zone);

/// Sets the routes of the zone, once hosts and links are made. The zone must contain only hosts, in the order in which
/// the network numbers them.
void set_network(HostZone& zone, std::unique_ptr<ClusterNetwork> network);

/// Stores the properties of a link of the zone, because reading them back from SimGrid's strings takes longer than
/// making the link.
void note_properties(simgrid::s4u::NetZone& zone, const simgrid::s4u::Link* link, const LinkProperties& properties);

/// Returns the properties last stored for the link in the zone of this process's engine; nullptr if there are none.
const LinkProperties* noted_properties(const simgrid::s4u::Link* link);

/// Returns the network of this process's engine; nullptr unless its platform is declared.
const ClusterNetwork* declared_network();

/// Returns the number of a host in the declared network.
std::int64_t number_in_network(const simgrid::s4u::Host& host);

}  // namespace dadsim::sim
