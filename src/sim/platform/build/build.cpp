#include "sim/platform/build/build.hpp"

#include <memory>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/host_zone.hpp"
#include "sim/platform/compat.hpp"

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;

void build(const spec::PlatformFileSpec& file) { sg4::Engine::get_instance()->load_platform(file.path); }

template <class Declared>
void build(const Declared& spec) {
  HostZone& zone = make_host_zone();
  set_network(zone, make_network(interface_of(zone), spec));
}

}  // namespace

void build_platform(const spec::PlatformSpec& platform) {
  std::visit([](const auto& what) { build(what); }, platform.what);
}

}  // namespace dadsim::sim
