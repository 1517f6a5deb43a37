#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/network/interconnect.hpp"
#include "sim/platform.hpp"
#include "sim/platform/platform_child.hpp"
#include "spec/bytes.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {

void fields(auto& bytes, of<RouteLink> auto& link) {
  bytes(link.from, link.to, link.link, link.bandwidth, link.latency, link.queue, link.transport);
}

std::vector<RouteLink> platform_routes(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts) {
  return std::move(routes_inside(platform, {hosts}).front());
}

std::vector<std::vector<RouteLink>> routes_inside(const spec::PlatformSpec& platform,
                                                  const std::vector<std::vector<std::string>>& groups) {
  const auto look = [&](const MessageSink& sink) {
    const simgrid::s4u::Engine& engine = load_to_look(platform);
    const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
    Interconnect network(engine, false, file == nullptr ? spec::Transport::plain : file->transport);
    for (const std::vector<std::string>& hosts : groups) {
      std::vector<RouteLink> routes;
      for (const std::string& from : hosts) {
        for (const std::string& to : hosts) {
          if (from == to) continue;
          const std::int32_t path = network.path(engine.host_by_name(from), engine.host_by_name(to));
          for (const std::int32_t index : network[path].links) {
            const NetworkLink& link = network.link(index);
            routes.push_back({from, to, link.name, link.bandwidth, link.latency,
                              link.use.is_goodput ? 0 : link.use.queue_bytes,
                              std::string(to_string(link.use.transport))});
          }
        }
      }
      WireWriter message;
      message << routes;
      sink.send(message.bytes());
    }
  };
  std::vector<std::vector<RouteLink>> all;
  look_in_child(look, [&](std::string_view bytes) {
    WireReader message(bytes);
    message >> all.emplace_back();
  });
  return all;
}

}  // namespace dadsim::sim
