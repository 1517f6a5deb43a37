#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/platform/engine.hpp"
#include "sim/process/child_process.hpp"
#include "sim/step/replay.hpp"
#include "support/wire.hpp"

// Tests laws that hold for every collective on every platform.

namespace dadsim::sim {
namespace {

std::int64_t between(std::int64_t first, std::int64_t last) { return *rc::gen::inRange(first, last + 1); }

/// Returns a number from 10^first to 10^last, drawn evenly on a logarithmic scale.
double magnitude(double first, double last) {
  return std::pow(10.0, first + (last - first) * static_cast<double>(between(0, 1000)) / 1000);
}

spec::LinkSpec some_link(const std::vector<spec::Transport>& transports) {
  spec::LinkSpec link = test::line(magnitude(6, 11), between(0, 3) == 0 ? 0 : magnitude(-7, -2),
                                   *rc::gen::elementOf(transports), static_cast<double>(between(1, 10)) / 10);
  if (link.transport == spec::Transport::tcp) link.efficiency = 1448.0 / 1514.0;
  link.queue_bytes = magnitude(4.5, 7);
  return link;
}

const std::vector<spec::Transport> any_transport{spec::Transport::plain, spec::Transport::rdma, spec::Transport::nvlink,
                                                 spec::Transport::tcp};
const std::vector<spec::Transport> no_tcp{spec::Transport::plain, spec::Transport::rdma, spec::Transport::nvlink};

spec::GpuClusterSpec some_gpu_cluster(const std::vector<spec::Transport>& transports) {
  const std::int64_t nodes = 2 * between(1, 4);
  spec::GpuClusterSpec cluster = test::cluster_of(nodes, between(1, 4), some_link(no_tcp), some_link(transports));
  cluster.rails = between(1, cluster.gpus);
  if (between(0, 2) == 0) {
    cluster.inside = spec::InsideNode::shared;
    cluster.bridge = some_link(no_tcp);
  }
  const spec::LinkSpec trunk = some_link(transports);
  switch (between(0, 3)) {
    case 0:
      break;
    case 1:
      cluster.fabric = test::fat_tree(between(1, nodes), trunk, static_cast<double>(between(1, 3)));
      // The number of spines depends on this ratio of bandwidths, which keeps it small enough to build.
      cluster.fabric.link.bandwidth = cluster.nic.bandwidth * static_cast<double>(between(1, 4)) / 2;
      break;
    case 2:
      cluster.fabric = test::dragonfly(nodes / 2, 2, 1, trunk);
      break;
    default:
      cluster.fabric.kind = spec::FabricSpec::Kind::torus;
      cluster.fabric.link = trunk;
      cluster.fabric.dimensions = {2, nodes / 2, 1};
  }
  return cluster;
}

spec::FederationSpec some_federation(const std::vector<spec::Transport>& transports) {
  spec::FederationSpec federation;
  for (std::int64_t i = between(1, 3); i > 0; --i) {
    federation.sites.push_back(
        {fmt::format("kind-{}", i), between(1, 4), true, some_link(transports), some_link(transports)});
  }
  if (between(0, 1) == 0) {
    federation.hub_up = some_link(transports);
    federation.hub_down = some_link(transports);
  }
  return federation;
}

std::vector<spec::WanSpec::Pair> some_pairs(const std::vector<std::string>& places,
                                            const std::vector<spec::Transport>& transports) {
  std::vector<spec::WanSpec::Pair> pairs;
  for (const std::string& from : places) {
    for (const std::string& to : places) {
      if (from == to) continue;
      pairs.push_back({from, to, magnitude(6, 10), magnitude(-3, -0.7), *rc::gen::elementOf(transports)});
    }
  }
  return pairs;
}

spec::PlatformSpec some_platform(const std::vector<spec::Transport>& transports) {
  switch (between(0, 3)) {
    case 0:
      return {"", some_gpu_cluster(transports), {}, {}};
    case 1:
      return {"", some_federation(transports), {}, {}};
    case 2: {
      spec::WanSpec wan;
      wan.regions = {{"a", between(1, 4)}, {"b", between(1, 4)}, {"c", between(1, 2)}};
      wan.host = some_link(transports);
      wan.pairs = some_pairs({"a", "b", "c"}, transports);
      return {"", wan, {}, {}};
    }
    default: {
      spec::CompositionSpec composition;
      for (const char* name : {"x", "y"}) {
        spec::GpuClusterSpec cluster = some_gpu_cluster(transports);
        cluster.name = name;
        composition.clusters.emplace_back(cluster);
      }
      composition.pairs = some_pairs({"x", "y"}, transports);
      return {"", composition, {}, {}};
    }
  }
}

/// Returns a job of a drawn registered algorithm for this number of ranks.
CollectiveJob some_job(std::size_t ranks) {
  const collectives::CollectiveAlgorithm info = *rc::gen::elementOf(collectives::collective_registry());
  CollectiveJob job = test::job(info.kind, info.name, between(0, 9) == 0 ? 0 : magnitude(1, 6.5));
  job.request.root = static_cast<collectives::Rank>(between(0, static_cast<std::int64_t>(ranks) - 1));
  const bool own_sizes = info.kind == step::CollectiveKind::all_gather || info.kind == step::CollectiveKind::gather;
  if (own_sizes && info.name != "hierarchical" && between(0, 1) == 0) {
    job.request.bytes.clear();
    for (std::size_t rank = 0; rank < ranks; ++rank) job.request.bytes.push_back(magnitude(1, 6));
  }
  if (info.kind == step::CollectiveKind::neighbour_exchange) {
    job.request.neighbours.resize(ranks);
    for (std::size_t rank = 0; rank + 1 < ranks; ++rank) {
      job.request.neighbours[rank].push_back(static_cast<collectives::Rank>(rank + 1));
      job.request.neighbours[rank + 1].push_back(static_cast<collectives::Rank>(rank));
    }
  }
  return job;
}

/// Replaces an algorithm that these ranks cannot run, e.g. one that needs nodes of equal size, by "ring".
void settle(CollectiveJob& job, const spec::PlatformSpec& platform, const std::vector<std::string>& hosts) {
  const auto* cluster = std::get_if<spec::GpuClusterSpec>(&platform.what);
  const bool even = cluster != nullptr && cluster->gpus > 1 && cluster->nodes > 1 &&
                    hosts.size() == static_cast<std::size_t>(cluster->nodes * cluster->gpus);
  const bool of_even_nodes =
      job.algorithm == "hierarchical" || job.algorithm == "nvls-tree" || job.algorithm == "sharp";
  const auto pod = cluster == nullptr ? std::vector<std::int64_t>{} : torus_of_chips(*cluster);
  const bool no_torus = job.algorithm == "torus" && (pod.empty() || hosts.size() < host_names(platform).size());
  if ((of_even_nodes && !even) || no_torus) job.algorithm = "ring";
}

/// Describes a sample in the report of a failed case.
std::string describe(const spec::PlatformSpec& platform, const CollectiveJob& job) {
  const char* kinds[] = {"file", "gpu-cluster", "federation", "wan", "composition"};
  return fmt::format("{} of {} hosts, {} {}, first size {:g}, root {}", kinds[platform.what.index()],
                     host_names(platform).size(), job.algorithm, to_string(job.request.kind), job.request.bytes.front(),
                     job.request.root);
}

void twice_as_fast(spec::LinkSpec& link) { link.bandwidth *= 2; }
void twice_as_fast(spec::GpuClusterSpec& cluster) {
  for (spec::LinkSpec* link : {&cluster.port, &cluster.bridge, &cluster.nic, &cluster.fabric.link})
    twice_as_fast(*link);
}
void twice_as_fast(spec::FederationSpec& federation) {
  for (spec::FederationSpec::Sites& sites : federation.sites) {
    twice_as_fast(sites.up);
    twice_as_fast(sites.down);
  }
  twice_as_fast(federation.hub_up);
  twice_as_fast(federation.hub_down);
}
void twice_as_fast(spec::WanSpec& wan) {
  twice_as_fast(wan.host);
  for (spec::WanSpec::Pair& pair : wan.pairs) pair.bandwidth *= 2;
}
void twice_as_fast(spec::CompositionSpec& composition) {
  for (auto& cluster : composition.clusters) std::visit([](auto& one) { twice_as_fast(one); }, cluster);
  for (spec::WanSpec::Pair& pair : composition.pairs) pair.bandwidth *= 2;
}
void twice_as_fast(spec::PlatformFileSpec& /*file*/) {}

/// Bytes on every link: as simulated, and summed over the collective's messages.
struct Carried {
  std::vector<double> on_links, of_messages;  ///< bytes on the wire, per link
  double sent = 0, due = 0;                   ///< number of messages: simulated, expected
  bool with_tcp = false;
};

Carried carry(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts, const CollectiveJob& job) {
  Carried carried;
  const auto body = [&](const MessageSink& sink) {
    const auto engine = load_engine(platform);
    Nodes nodes;
    for (const std::string& host : hosts) nodes.hosts.push_back(engine->host_by_name(host));
    nodes.workers = hosts.size();
    Interconnect network(*engine, false, spec::Transport::plain);
    Connections connections(network, nodes.hosts, false);
    compat::add_actor("driver", nodes.hosts.front(), [&] {
      const auto rounds = lay_out(job.request, job.algorithm, rank_layout(nodes.hosts, network));
      replay(nodes, *rounds, connections);
      double due = 0;
      double with_tcp = 0;
      // With a handshake, the receiver first sends an empty notice for each message.
      const bool words = rounds->pace().handshake != collectives::Pace::Handshake::eager;
      std::map<std::int32_t, double> expected;
      std::vector<collectives::Transfer> transfers;
      for (std::int64_t round = 0; round < rounds->count(); ++round) {
        for (collectives::Rank rank = 0; rank < rounds->ranks(); ++rank) {
          transfers.clear();
          for (collectives::Rank lane = 0; lane < rounds->lanes(); ++lane)
            rounds->lane_sends(rank, lane, round, transfers);
          for (const collectives::Transfer& transfer : transfers) {
            due += words ? 2 : 1;
            const Path& path = network[network.path(nodes.hosts[static_cast<std::size_t>(rank)],
                                                    nodes.hosts[static_cast<std::size_t>(transfer.peer)])];
            const bool tcp = path.use.transport == spec::Transport::tcp;
            if (tcp) with_tcp = 1;
            const double bytes = tcp ? transfer.bytes / path.use.efficiency
                                     : path.use.cost(transfer.bytes, rounds->protocol()).wire_bytes;
            for (const std::int32_t link : path.links) expected[link] += bytes;
          }
        }
      }
      std::vector<double> on_links;
      std::vector<double> of_messages;
      for (std::size_t link = 0; link < network.links().size(); ++link) {
        on_links.push_back(network.links()[link].bytes);
        of_messages.push_back(expected[static_cast<std::int32_t>(link)]);
      }
      WireWriter message;
      message << on_links << of_messages << static_cast<double>(connections.messages()) << due << with_tcp;
      sink.send(message.bytes());
      std::_Exit(0);
    });
    engine->run();
  };
  double with_tcp = 0;
  const ChildOutcome outcome = run_in_child(body, [&](std::string_view bytes) {
    WireReader message(bytes);
    message >> carried.on_links >> carried.of_messages >> carried.sent >> carried.due >> with_tcp;
  });
  if (!outcome.complete()) throw std::runtime_error(outcome.description() + ": " + outcome.output);
  carried.with_tcp = with_tcp > 0;
  return carried;
}

struct Sample {
  spec::PlatformSpec platform;
  std::vector<std::string> hosts;
  CollectiveJob job;
};

Sample some_sample(const std::vector<spec::Transport>& transports) {
  Sample sample;
  sample.platform = some_platform(transports);
  sample.hosts = host_names(sample.platform);
  // Uses all hosts, or the first few.
  if (between(0, 1) == 0)
    sample.hosts.resize(static_cast<std::size_t>(between(1, static_cast<std::int64_t>(sample.hosts.size()))));
  sample.job = some_job(sample.hosts.size());
  settle(sample.job, sample.platform, sample.hosts);
  return sample;
}

CollectiveTiming time(const Sample& sample) {
  Cluster cluster = test::workers_on(sample.platform, spec::Fidelity::message);
  cluster.hosts = sample.hosts;
  const std::vector<CollectiveJob> jobs{sample.job};
  return time_collectives(cluster, jobs).timings.at(0);
}

TEST(Properties, EveryLinkCarriesWhatTheMessagesOverItMake) {
  const bool held = rc::check("bytes are conserved", [] {
    const Sample sample = some_sample(any_transport);
    RC_LOG(describe(sample.platform, sample.job));
    const Carried carried = carry(sample.platform, sample.hosts, sample.job);
    RC_ASSERT(carried.sent == carried.due);
    RC_ASSERT(carried.on_links.size() == carried.of_messages.size());
    for (std::size_t link = 0; link < carried.on_links.size(); ++link) {
      const double expected = carried.of_messages[link];
      // TCP adds acknowledgements and retransmitted segments, so its links may carry more.
      if (carried.with_tcp) {
        RC_ASSERT(carried.on_links[link] >= expected * (1 - 1e-9));
      } else {
        RC_ASSERT(std::abs(carried.on_links[link] - expected) <= 1e-9 * expected);
      }
    }
  });
  EXPECT_TRUE(held);
}

TEST(Properties, TimesArePositiveAndTheSameBitByBit) {
  const bool held = rc::check("reruns are identical", [] {
    const Sample sample = some_sample(any_transport);
    RC_LOG(describe(sample.platform, sample.job));
    const CollectiveTiming first = time(sample);
    const CollectiveTiming second = time(sample);
    RC_ASSERT(first.seconds == second.seconds);
    RC_ASSERT(first.cold_seconds == second.cold_seconds);
    RC_ASSERT(first.messages == second.messages);
    RC_ASSERT(std::isfinite(first.seconds));
    // A job takes no time only if it has no messages, or only empty ones on links without latency.
    const double most = *std::ranges::max_element(sample.job.request.bytes);
    if (first.messages > 0 && most > 0) {
      RC_ASSERT(first.seconds > 0);
    } else {
      RC_ASSERT(first.seconds >= 0);
    }
  });
  EXPECT_TRUE(held);
}

/// Turns the job into one round, in which all messages are sent at the beginning.
CollectiveJob one_round(CollectiveJob job) {
  using enum step::CollectiveKind;
  switch (job.request.kind) {
    case gather:
    case broadcast:
    case scatter:
      job.algorithm = "flat";
      return job;
    case all_reduce:
    case reduce:
      job.request.kind = reduce_scatter;
      break;
    default:
      break;
  }
  job.algorithm = "direct";
  return job;
}

/// Expects that no job is slower with twice the bandwidth, except by the relative `allowance`.
void expect_faster(const char* property, const std::vector<spec::Transport>& transports, bool in_one_round,
                   double allowance) {
  const bool held = rc::check(property, [&] {
    Sample sample = some_sample(transports);
    if (in_one_round) sample.job = one_round(sample.job);
    RC_LOG(describe(sample.platform, sample.job));
    Sample faster = sample;
    std::visit([](auto& what) { twice_as_fast(what); }, faster.platform.what);
    const double before = time(sample).seconds;
    const double after = time(faster).seconds;
    RC_LOG(fmt::format("{:.9g} s, with twice the bandwidth {:.9g} s", before, after));
    RC_ASSERT(after <= before * (1 + allowance));
  });
  EXPECT_TRUE(held);
}

TEST(Properties, TwiceTheBandwidthIsNeverSlower) { expect_faster("twice the bandwidth", no_tcp, false, 1e-9); }

// Over TCP, a message's time depends on the queues that it meets. In collectives of several rounds, a faster network
// can make messages collide, so the law holds for one round only. The fitted corrections allow 1 %: five of 8,900 drawn
// cases were over 0.5 % slower, none over 0.9 %.
TEST(Properties, TwiceTheBandwidthIsNotSlowerOverTcpInOneRound) {
  expect_faster("twice the bandwidth, TCP", any_transport, true, 0.01);
}

}  // namespace
}  // namespace dadsim::sim
