#pragma once

#include <cstdint>
#include <memory>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/link_properties.hpp"
#include "sim/process/compat.hpp"

namespace dadsim::sim {

/// The one zone of a declared platform: its hosts lie in it directly, and a ClusterNetwork says how routes go.
///
/// SimGrid's own zones are not used, for three reasons. Its fat trees, tori and dragonflies give the links of the nodes
/// and those between switches one and the same bandwidth, take a node for one end of a route, so that the adapters of a
/// node share one path, and name their links by numbers, without properties. Zones that hold zones of each node cost a
/// table of routes per node. And in SimGrid 3.32 routes through three levels of zones lose links in silence: with one
/// level, there is nothing to lose. This rests on NetZoneImpl::get_local_route, which SimGrid installs for zones of all
/// kinds to override; it is the same from 3.32 to 4.0.
class HostZone;

/// Makes the zone the root of this process's engine. It belongs to the engine from then on.
HostZone& make_host_zone();

simgrid::s4u::NetZone& interface_of(HostZone& zone);

/// Gives the zone its routes, once hosts and links are made. Nothing but hosts may have been added to the zone, in the
/// order in which the network numbers them.
void set_network(HostZone& zone, std::unique_ptr<ClusterNetwork> network);

/// Keeps what a link of the zone is like, as its properties say in words: reading these back takes longer than making
/// the link.
void note_properties(simgrid::s4u::NetZone& zone, const simgrid::s4u::Link* link, const LinkProperties& properties);

/// What was noted last, in the zone of this process's engine; nullptr: nothing.
const LinkProperties* noted_properties(const simgrid::s4u::Link* link);

/// The network of this process's engine where it is a declared one; else nullptr.
const ClusterNetwork* declared_network();

/// The number of a host in it.
std::int64_t number_in_network(const simgrid::s4u::Host& host);

}  // namespace dadsim::sim
