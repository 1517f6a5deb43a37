#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/network/network_use.hpp"

namespace dadsim::sim {

namespace sg4 = simgrid::s4u;

void start_background(const spec::PlatformSpec& platform, sg4::Engine& engine) {
  for (const spec::PlatformSpec::Background& traffic : platform.background) {
    sg4::Host* from = engine.host_by_name_or_null(traffic.from);
    sg4::Host* to = engine.host_by_name_or_null(traffic.to);
    if (from == nullptr || to == nullptr) {
      throw std::runtime_error(
          fmt::format("background traffic from '{}' to '{}': no such host in the platform", traffic.from, traffic.to));
    }
    compat::add_actor(fmt::format("background {} > {}", traffic.from, traffic.to), from, [from, to, traffic] {
      for (double next = 0;; next += traffic.every) {
        sg4::Comm::sendto(from, to, static_cast<std::uint64_t>(traffic.bytes));
        if (traffic.every > 0 && next + traffic.every > sg4::Engine::get_clock()) {
          sg4::this_actor::sleep_until(next + traffic.every);
        }
      }
    })->daemonize();
  }
}

}  // namespace dadsim::sim
