#include "sim/platforms/build.hpp"

#include <memory>

#include "sim/compat.hpp"
#include "sim/platforms/cluster_network.hpp"
#include "sim/platforms/host_zone.hpp"

namespace dadsim {
namespace {

namespace sg4 = simgrid::s4u;

std::unique_ptr<ClusterNetwork> make(sg4::NetZone& zone, const GpuClusterSpec& spec) {
  return make_gpu_cluster(zone, spec);
}
std::unique_ptr<ClusterNetwork> make(sg4::NetZone& zone, const FederationSpec& spec) {
  return make_federation(zone, spec);
}
std::unique_ptr<ClusterNetwork> make(sg4::NetZone& zone, const WanSpec& spec) { return make_wan(zone, spec); }
std::unique_ptr<ClusterNetwork> make(sg4::NetZone& zone, const CompositionSpec& spec) {
  return make_composition(zone, spec);
}

void build(const PlatformFileSpec& file) { sg4::Engine::get_instance()->load_platform(file.path); }

template <class Declared>
void build(const Declared& spec) {
  HostZone& zone = make_host_zone();
  set_network(zone, make(interface_of(zone), spec));
}

}  // namespace

void build_platform(const PlatformSpec& platform) {
  std::visit([](const auto& what) { build(what); }, platform.what);
}

}  // namespace dadsim
