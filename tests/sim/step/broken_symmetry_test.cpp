#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/star.hpp"

// Tests steps whose ranks enter collectives at different times, by flow and by messages. Causes are jitter, a node with
// other devices, a slow rail, and odd numbers of nodes.

namespace dadsim::sim {
namespace {

constexpr double kMostApart = 0.01;  // largest deviation, as a share of the step; stated in docs/timing.md

struct Drawn {
  std::string name;
  Cluster cluster;
  schedule::Schedule schedule;
};

class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}

  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }
  bool once_in(int times) { return std::uniform_int_distribution<int>(1, times)(random_) == 1; }
  double between(double low, double high) {  // Returns a number drawn evenly on a logarithmic scale.
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random_));
  }

 private:
  std::mt19937 random_;
};

/// Returns a drawn step of up to `most` GPUs with at least one broken symmetry.
Drawn drawn_step(unsigned seed, std::int64_t most) {
  Draws draws(seed);
  Drawn drawn;
  const std::int64_t gpus = draws.one_of<std::int64_t>({2, 4, 8});
  std::int64_t nodes = most / gpus;
  if (draws.once_in(3)) nodes -= draws.one_of<std::int64_t>({1, 2, 3}) % (nodes - 1);
  spec::GpuClusterSpec gpu =
      test::cluster_of(nodes, gpus, test::line(450e9, 5e-7, spec::Transport::nvlink, 0.82),
                       test::line(draws.one_of<double>({12.5e9, 25e9, 50e9}), 6e-7, spec::Transport::rdma, 0.96));
  gpu.rails = draws.one_of<std::int64_t>({1, std::max<std::int64_t>(1, gpus / 2), gpus});
  if (draws.once_in(2))
    gpu.fabric = test::fat_tree(std::max<std::int64_t>(1, nodes / 2), gpu.nic, draws.once_in(3) ? 2 : 1);
  if (seed % 5 == 4) {  // a node with half the GPUs and a slower adapter
    gpu.more.push_back({1, std::max<std::int64_t>(1, gpus / 2), gpu.port, 1, gpu.nic});
    gpu.more.back().nic.bandwidth /= 2;
  }
  spec::PlatformSpec platform;
  platform.what = gpu;
  drawn.cluster = test::workers_on(platform, spec::Fidelity::message);
  drawn.name =
      fmt::format("{}: {} x {} GPUs{}, {} rails", seed, nodes, gpus, gpu.more.empty() ? "" : " and some", gpu.rails);
  const std::size_t workers = drawn.cluster.hosts.size();
  drawn.cluster.devices.assign(workers, test::clockwork());
  const bool node = draws.once_in(3);
  const bool rail = draws.once_in(3);
  if (node) {  // a node with slower or faster devices
    const double slower = draws.one_of<double>({0.6, 1.2, 2});
    const auto first = static_cast<std::size_t>(draws.one_of<std::int64_t>({0, nodes / 2, nodes - 1}) * gpus);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(gpus); ++i)
      drawn.cluster.devices[i].slowdown = slower;
    drawn.name += fmt::format(", a node {} as slow", slower);
  }
  if (rail) {
    drawn.cluster.changes = {{"node-1 rail-0*", draws.one_of<double>({0.25, 0.5}), 1}};
    drawn.name += ", a slow rail";
  }
  if (!(node || rail) || draws.once_in(2)) {
    drawn.cluster.network.jitter = {.spatial = draws.once_in(2) ? 0.02 : 0, .temporal = draws.between(0.002, 0.05)};
    drawn.name += fmt::format(", jitter {:.3f}", drawn.cluster.network.jitter.temporal);
  }
  drawn.cluster.seed = seed;
  test::Script script(workers, false);
  std::vector<std::int32_t> collectives;
  const double computing = draws.between(1e-4, 1e-2);  // seconds of computing per step
  // Limits the buckets, since the number of messages grows faster than the square of the ranks.
  const int buckets = std::min(draws.one_of<int>({1, 3, 6}), static_cast<int>(std::max<std::int64_t>(1, 256 / most)));
  for (int i = 0; i < buckets; ++i) {
    script.compute(computing / buckets);
    std::string algorithm = draws.one_of<std::string>({"auto", "auto", "ring", "tree", "hierarchical",
                                                       "halving-doubling", "recursive-doubling", "double-binary-tree"});
    if (!gpu.more.empty() && algorithm == "hierarchical") algorithm = "ring";  // hierarchical needs nodes of equal size
    const double bytes = std::round(draws.between(1e4, 3e7));
    drawn.name += fmt::format(", {} of {:.3g}", algorithm, bytes);
    const auto kind = step::CollectiveKind::all_reduce;
    collectives.push_back(script.collective(kind, test::same(bytes), algorithm));
    if (draws.once_in(4)) script.wait(collectives.back());
  }
  for (const std::int32_t collective : collectives) script.wait(collective);
  drawn.schedule = script.schedule();
  return drawn;
}

int asked_for(int usual) {
  const char* draws = std::getenv("DADSIM_DRAWS");
  return draws == nullptr ? usual : std::atoi(draws);
}

TEST(BrokenSymmetry, FlowIsMessagesWithinAPercentOrSaysWhy) {
  const char* only = std::getenv("DADSIM_SEED");
  const char* size = std::getenv("DADSIM_GPUS");
  std::vector<double> apart;
  int refused = 0;
  const std::vector<std::int64_t> sizes{16, 16, 32};
  for (int i = 0; i < asked_for(6); ++i) {
    if (only != nullptr && std::atoi(only) != i) continue;
    Drawn drawn = drawn_step(static_cast<unsigned>(i),
                             size != nullptr ? std::atoi(size) : sizes[static_cast<std::size_t>(i) % 3]);
    const std::vector<schedule::Schedule> schedules{drawn.schedule};
    drawn.cluster.network.fidelity = spec::Fidelity::flow;
    const TimedRun flow = time_schedules(drawn.cluster, schedules);
    if (flow.network.fidelity != "flow") {
      ++refused;
      fmt::print("{}: {}\n", drawn.name, test::notes_of(flow.network));
      continue;
    }
    drawn.cluster.network.fidelity = spec::Fidelity::message;
    const TimedRun message = time_schedules(drawn.cluster, schedules);
    apart.push_back(flow.steps.at(0).seconds / message.steps.at(0).seconds - 1);
    if (only != nullptr || std::abs(apart.back()) > kMostApart / 2)
      fmt::print("{:.3f} %: {}\n", 100 * apart.back(), drawn.name);
    EXPECT_LE(std::abs(apart.back()), kMostApart) << drawn.name;
  }
  std::ranges::sort(apart, {}, [](double one) { return std::abs(one); });
  if (!apart.empty()) {
    fmt::print("{} by flow, {} refused; median {:.4f} %, worst {:.3f} %\n", apart.size(), refused,
               100 * std::abs(apart[apart.size() / 2]), 100 * std::abs(apart.back()));
  }
}

}  // namespace
}  // namespace dadsim::sim
