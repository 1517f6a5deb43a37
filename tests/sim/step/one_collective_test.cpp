// Tests that a step of one collective takes as long as the collective alone, on platforms of all kinds.
#include <gtest/gtest.h>

#include "sim/declared.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

spec::GpuClusterSpec gpus(std::int64_t nodes, std::int64_t each, std::int64_t rails, const char* inside,
                          const char* nic) {
  spec::GpuClusterSpec cluster = test::cluster_of(nodes, each, *find_link(inside), *find_link(nic));
  cluster.rails = rails;
  return cluster;
}

std::vector<spec::PlatformSpec> platforms() {
  std::vector<spec::PlatformSpec> all;
  const auto add = [&all](auto source) { all.push_back({"", std::move(source), {}, {}}); };
  add(gpus(1, 8, 1, "nvlink-4", "ib-ndr"));
  add(gpus(4, 8, 1, "nvlink-2-cube", "ib-edr"));
  add(gpus(4, 8, 8, "nvlink-4", "ib-ndr"));
  add(gpus(3, 4, 2, "nvlink-3", "roce-100"));
  add(gpus(4, 8, 1, "nvlink-2-cube", "ethernet-25g"));
  add(gpus(2, 8, 1, "nvlink-4", "ethernet-200g"));
  add(gpus(5, 1, 1, "nvlink-3", "ethernet-100g"));
  add(gpus(2, 8, 8, "xgmi-mi300x", "roce-400"));
  spec::GpuClusterSpec meshed = gpus(1, 4, 1, "nvlink-3", "ib-hdr");
  meshed.inside = spec::InsideNode::mesh;
  add(meshed);
  spec::GpuClusterSpec thin = gpus(8, 4, 4, "nvlink-3", "ib-hdr");
  thin.fabric = test::fat_tree(2, *find_link("ib-hdr"), 4);
  add(thin);
  return all;
}

TEST(StepOfOneCollective, TakesWhatTheCollectiveTakesByItself) {
  int number = 0;
  for (const spec::PlatformSpec& platform : platforms()) {
    for (const step::CollectiveKind kind : {all_reduce, reduce_scatter, all_gather}) {
      Cluster cluster = test::workers_on(platform, spec::Fidelity::automatic);
      const std::size_t workers = cluster.hosts.size();
      const double bytes = kind == all_gather ? 201e6 / static_cast<double>(workers) : 201e6;
      const CollectiveTiming alone = time_collectives(cluster, std::vector{test::job(kind, "auto", bytes)}).timings[0];
      cluster.devices.assign(workers, test::clockwork());
      schedule::Schedule schedule;
      schedule.workers = workers;
      schedule.tasks.push_back({"layer", schedule::CollectiveTask{kind, test::same(bytes)}});
      schedule.tasks.push_back({"layer", schedule::WaitTask{step::Role::workers, 0}});
      const TimedRun step = time_schedules(cluster, std::vector{schedule});
      ASSERT_EQ(step.network.collectives.size(), 1U);
      EXPECT_EQ(step.network.collectives[0].algorithm, alone.algorithm) << number << ' ' << to_string(kind);
      EXPECT_NEAR(step.steps[0].seconds, alone.seconds, 1e-6 * alone.seconds) << number << ' ' << to_string(kind);
    }
    ++number;
  }
}

/// Each of 16 TPU v6e in a torus of 4 × 4 sends 15/16 of 1 GB over four links of 100 GB/s, of which 0.9 is payload.
TEST(StepOfOneCollective, OfTpusTakesAllLinksOfTheTorus) {
  spec::GpuClusterSpec pod = gpus(16, 1, 4, "nvlink-4", "ici-v6e");
  pod.port = {};
  pod.fabric.kind = spec::FabricSpec::Kind::torus;
  pod.fabric.link = *find_link("ici-v6e");
  pod.fabric.dimensions = {4, 4};
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    const Cluster cluster = test::workers_on({"", pod, {}, {}}, fidelity);
    const auto timed = time_collectives(cluster, std::vector{test::job(all_gather, "auto", 1e9 / 16)}).timings[0];
    EXPECT_EQ(timed.algorithm, "torus");
    EXPECT_NEAR(timed.seconds, 15.0 / 16 * 1e9 / (4 * 90e9), 0.02 * timed.seconds);
    const auto sum = time_collectives(cluster, std::vector{test::job(all_reduce, "auto", 1e9)}).timings[0];
    EXPECT_NEAR(sum.seconds, 2 * timed.seconds, 0.01 * sum.seconds);
  }
}

}  // namespace
}  // namespace dadsim::sim
