#include "sim/child/loaded_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <variant>

#include "sim/child/timing_messages.hpp"
#include "sim/platform.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/link_changes.hpp"

namespace dadsim::sim {
namespace {

const spec::DeviceSpec kNoDevice{};

}  // namespace

LoadedCluster::LoadedCluster(const Cluster& asked, const MessageSink& sink)
    : engine(load_engine(asked.platform, asked.changes)), states(asked.platform, *engine) {
  const auto add = [&](const std::string& name, const spec::DeviceSpec& device) {
    sg4::Host* host = engine->host_by_name_or_null(name);
    if (host == nullptr) fail(sink, fmt::format("host '{}' is not in the platform", name));
    nodes.hosts.push_back(host);
    nodes.devices.push_back(&device);
  };
  const spec::DeviceSpec* device = asked.devices.data();
  for (const std::string& name : asked.hosts) add(name, asked.devices.empty() ? kNoDevice : *device++);
  nodes.workers = asked.hosts.size();
  nodes.framework = &asked.framework;
  if (!asked.aggregator_host.empty()) add(asked.aggregator_host, asked.aggregator_device);
  connect(asked);
  sg4::Engine::on_deadlock_cb([&sink] { fail(sink, "deadlock: every stream waits for another one"); });
}

void LoadedCluster::connect(const Cluster& asked) {
  const auto* file = std::get_if<spec::PlatformFileSpec>(&asked.platform.what);
  network = std::make_unique<Interconnect>(*engine, varies_over_time(asked.platform),
                                           file == nullptr ? spec::Transport::plain : file->transport);
  network->limit_connections(asked.network.window, asked.network.streams);
  connections = std::make_unique<Connections>(*network, nodes.hosts, asked.network.rendezvous);
}

void LoadedCluster::lift_limits(const Cluster& asked) {
  const spec::LinkChange all{"*", 1e6, 0};
  apply_link_changes({&all, 1}, asked.platform, *engine);
  connect(asked);
}

void LoadedCluster::select(const Nodes& all, const std::vector<std::size_t>& workers, const Cluster& asked) {
  nodes = all;
  if (!workers.empty()) {
    nodes.hosts.clear();
    nodes.devices.clear();
    nodes.workers = workers.size();
  }
  for (const std::size_t worker : workers) {
    nodes.hosts.push_back(all.hosts.at(worker));
    nodes.devices.push_back(all.devices.at(worker));
  }
  connections = std::make_unique<Connections>(*network, nodes.hosts, asked.network.rendezvous);
}

void LoadedCluster::act(const MessageSink& sink, const std::function<void()>& code) {
  compat::add_actor("driver", nodes.hosts.front(), [&] {
    try {
      code();
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (const std::exception& error) {
      fail(sink, error.what());
    }
    std::_Exit(0);  // ends the process without the engine's teardown, which is not needed and could fail
  });
  engine->run();
  std::_Exit(0);
}

bool LoadedCluster::has_tcp() const {
  return std::ranges::any_of(network->paths(),
                             [](const Path& path) { return path.use.transport == spec::Transport::tcp; });
}

}  // namespace dadsim::sim
