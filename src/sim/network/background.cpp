#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/network/network_use.hpp"

namespace dadsim::sim {

namespace sg4 = simgrid::s4u;

namespace {

/// Of traffic that is seen from `until` on, when the first message leaves that is still followed. Messages that are
/// through before the next leaves stand at that date as if all had been followed; where they are not, one is under way
/// there in any case.
double first_message(double every, double until) {
  constexpr double kRunUp = 1;      // seconds
  constexpr double kMessages = 16;  // and as many of them, where they are rare
  const double begin = until - std::max(kRunUp, kMessages * every);
  if (begin <= 0) return 0;
  return every > 0 ? std::floor(begin / every) * every : begin;
}

}  // namespace

void start_background(const spec::PlatformSpec& platform, sg4::Engine& engine, double until) {
  for (const spec::PlatformSpec::Background& traffic : platform.background) {
    sg4::Host* from = engine.host_by_name_or_null(traffic.from);
    sg4::Host* to = engine.host_by_name_or_null(traffic.to);
    if (from == nullptr || to == nullptr) {
      throw std::runtime_error(
          fmt::format("background traffic from '{}' to '{}': no such host in the platform", traffic.from, traffic.to));
    }
    compat::add_actor(fmt::format("background {} > {}", traffic.from, traffic.to), from, [from, to, traffic, until] {
      double next = first_message(traffic.every, until);
      if (next > 0) sg4::this_actor::sleep_until(next);
      for (;; next += traffic.every) {
        sg4::Comm::sendto(from, to, static_cast<std::uint64_t>(traffic.bytes));
        if (traffic.every > 0 && next + traffic.every > sg4::Engine::get_clock()) {
          sg4::this_actor::sleep_until(next + traffic.every);
        }
      }
    })->daemonize();
  }
}

}  // namespace dadsim::sim
