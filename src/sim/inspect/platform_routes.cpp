#include <string_view>

#include "sim/network/interconnect.hpp"
#include "sim/platform.hpp"
#include "sim/platform/platform_child.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {

std::vector<RouteLink> platform_routes(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts) {
  const auto look = [&](const MessageSink& sink) {
    const simgrid::s4u::Engine& engine = load_to_look(platform);
    const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
    Interconnect network(engine, false, file == nullptr ? spec::Transport::plain : file->transport);
    for (const std::string& from : hosts) {
      for (const std::string& to : hosts) {
        if (from == to) continue;
        const std::int32_t path = network.path(engine.host_by_name(from), engine.host_by_name(to));
        for (const std::int32_t index : network[path].links) {
          const NetworkLink& link = network.link(index);
          WireWriter message;
          message << std::string_view(from) << std::string_view(to) << std::string_view(link.name) << link.bandwidth
                  << link.latency << (link.use.is_goodput ? 0 : link.use.queue_bytes)
                  << std::string_view(to_string(link.use.transport));
          sink.send(message.bytes());
        }
      }
    }
  };
  std::vector<RouteLink> routes;
  look_in_child(look, [&](std::string_view bytes) {
    WireReader message(bytes);
    RouteLink& link = routes.emplace_back();
    message >> link.from >> link.to >> link.link >> link.bandwidth >> link.latency >> link.queue >> link.transport;
  });
  return routes;
}

}  // namespace dadsim::sim
