// Compares the energy of nodes, computed from their busy and idle seconds, with the joules of SimGrid's energy plugin.
#include <gtest/gtest.h>
#include <simgrid/plugins/energy.h>

#include "sim/platform/engine.hpp"
#include "sim/process/child_process.hpp"
#include "sim/process/compat.hpp"
#include "sim/star.hpp"
#include "sim/step/replay.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

constexpr double kIdleWatts = 40;
constexpr double kBusyWatts = 250;

spec::DeviceSpec device_of(double flops) {
  spec::DeviceSpec device;
  device.name = "device";
  device.peak_flops = flops;
  device.memory_bandwidth = 1e12;
  device.matrix_efficiency = device.memory_efficiency = 1;
  return device;
}

schedule::Task compute(double flops) {
  return {"layer", schedule::ComputeTask{step::Phase::forward, step::Role::workers, schedule::PerWorker({flops}),
                                         schedule::PerWorker({0.0}), schedule::PerWorker({0.0})}};
}

TEST(Energy, IsThatOfSimGridsPlugin) {
  const std::string power =
      fmt::format("<prop id=\"wattage_per_state\" value=\"{0}:{1}:{1}\"/>", kIdleWatts, kBusyWatts);
  const std::string body = fmt::format(
      "<host id=\"a\" speed=\"1Gf\">{0}</host>\n<host id=\"b\" speed=\"2Gf\">{0}</host>\n"
      "<link id=\"ab\" bandwidth=\"1MBps\" latency=\"10ms\"/>\n<link id=\"ba\" bandwidth=\"2MBps\" latency=\"10ms\"/>\n"
      "<route src=\"a\" dst=\"b\" symmetrical=\"NO\"><link_ctn id=\"ab\"/></route>\n"
      "<route src=\"b\" dst=\"a\" symmetrical=\"NO\"><link_ctn id=\"ba\"/></route>\n",
      power);
  const test::TemporaryFile file(test::platform_xml(body));
  spec::PlatformSpec platform;
  platform.what = spec::PlatformFileSpec{file.path()};

  schedule::Schedule schedule;
  schedule.workers = 2;
  schedule.tasks = {
      compute(3e9),
      {"layer", schedule::CollectiveTask{step::CollectiveKind::all_reduce, schedule::PerWorker({4e5}), "ring"}},
      compute(1e9),
      {"layer", schedule::WaitTask{step::Role::workers, 1}},
      compute(5e8)};

  std::vector<double> joules;
  std::vector<double> busy;
  double seconds = 0;
  const auto body_of_child = [&](const MessageSink& sink) {
    sg_host_energy_plugin_init();
    const auto engine = load_engine(platform);
    Nodes nodes;
    for (const char* host : {"a", "b"}) nodes.hosts.push_back(engine->host_by_name(host));
    nodes.workers = 2;
    const spec::DeviceSpec slow = device_of(1e9);
    const spec::DeviceSpec fast = device_of(2e9);
    nodes.devices = {&slow, &fast};
    Interconnect network(*engine, false, spec::Transport::plain);
    Connections connections(network, nodes.hosts, false);
    compat::add_actor("driver", nodes.hosts.front(), [&] {
      collectives::RankLayout layout;
      layout.node_of = {0, 1};
      const step::StepTiming timing = StepReplayer(nodes, network, connections).replay(layout, schedule);
      std::vector<double> billed;
      for (const simgrid::s4u::Host* host : nodes.hosts) billed.push_back(sg_host_get_consumed_energy(host));
      WireWriter message;
      message << timing.busy_seconds << simgrid::s4u::Engine::get_clock() << billed;
      sink.send(message.bytes());
      std::_Exit(0);
    });
    engine->run();
  };
  const auto on_message = [&](std::string_view bytes) { WireReader(bytes) >> busy >> seconds >> joules; };
  const ChildOutcome outcome = run_in_child(body_of_child, on_message);
  ASSERT_EQ(joules.size(), 2U) << outcome.description() << outcome.output;
  // Each node computes 4.5 Gflop, one at 1 and one at 2 Gflop/s. The all-reduce ends while the slower node still
  // computes, so the faster node waits.
  EXPECT_NEAR(busy[0], 4.5, 1e-9);
  EXPECT_NEAR(busy[1], 2.25, 1e-9);
  EXPECT_NEAR(seconds, 4.5, 1e-9);
  for (std::size_t node = 0; node < 2; ++node) {
    const double own = busy[node] * kBusyWatts + (seconds - busy[node]) * kIdleWatts;
    EXPECT_NEAR(joules[node], own, 1e-6 * own);
  }
}

}  // namespace
}  // namespace dadsim::sim
