#include "study/diagnose/suspects.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "algorithms/registry.hpp"
#include "sim/platform.hpp"
#include "spec/precision.hpp"
#include "study/explain/changes.hpp"
#include "study/setting/device_lookup.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {
namespace {

constexpr double kSlowClock = 0.7;      // of the usual one
constexpr double kSlowDevice = 0.5;     // of its speed
constexpr double kSmallBucket = 1e6;    // bytes
constexpr double kManagement = 1.25e9;  // byte/s of 10 Gbit/s
constexpr double kPeersByCpu = 2.4e9;   // byte/s (NVIDIA/nccl, issue 908)
constexpr double kNearRates = 1.2;      // rates that are as near as this are one
constexpr std::size_t kFewDevices = 2;
/// That serve the sockets of an adapter where nobody has set them up: 4 and 5 GB/s over 100 and 200 Gbit/s
/// (NVIDIA/nccl, issue 465; areal-project/AReaL, issue 639) are two threads of 20 Gbit/s.
constexpr std::int64_t kSocketThreads = 2;

spec::LinkSpec link_of(const char* name) {
  const spec::LinkSpec* found = sim::find_link(name);
  return found == nullptr ? spec::LinkSpec{} : *found;
}

/// 16 lanes of the generation that GPUs came with.
spec::LinkSpec pcie_of(spec::GpuGeneration generation) {
  switch (generation) {
    case spec::GpuGeneration::volta:
      return link_of("pcie-3");
    case spec::GpuGeneration::ampere:
      return link_of("pcie-4");
    case spec::GpuGeneration::hopper:
    case spec::GpuGeneration::blackwell:
      return link_of("pcie-5");
  }
  return link_of("pcie-4");
}

/// What the catalogue has of Ethernet at this rate or the next below, with TCP.
spec::LinkSpec ethernet_of(double bandwidth) {
  spec::LinkSpec best = link_of("ethernet-10g");
  for (const char* name : {"ethernet-25g", "ethernet-40g", "ethernet-100g", "ethernet-200g", "ethernet-400g"}) {
    const spec::LinkSpec one = link_of(name);
    if (one.bandwidth <= bandwidth * 1.01) best = one;
  }
  best.bandwidth = std::min(best.bandwidth, bandwidth);
  best.in_cluster = true;
  return best;
}

void put_over_tcp(spec::GpuClusterSpec& cluster, double bandwidth) {
  const spec::LinkSpec link = ethernet_of(bandwidth);
  cluster.nic = link;
  cluster.socket_threads = kSocketThreads;
  if (cluster.fabric.link.bandwidth > 0) {
    const double rate = cluster.fabric.link.bandwidth;
    cluster.fabric.link = link;
    cluster.fabric.link.bandwidth = rate;
  }
}

using ChangeCluster = std::function<void(spec::GpuClusterSpec&)>;

class Suspects {
 public:
  explicit Suspects(const scenario::Scenario& scenario) : scenario_(scenario) {}

  std::vector<Suspect> all() {
    if (const auto* cluster = std::get_if<spec::GpuClusterSpec>(&scenario_.platform.what)) add_network(*cluster);
    add_devices();
    if (scenario_.timed_as) add_steps(*scenario_.timed_as);
    return std::move(suspects_);
  }

 private:
  void add_cluster(const char* cause, ChangeCluster change) {
    suspects_.push_back(
        {.cause = cause, .of_network = true, .change = [change](scenario::Scenario&, sim::Cluster& cluster) {
           change(std::get<spec::GpuClusterSpec>(cluster.platform.what));
         }});
  }
  void add(const char* cause, std::function<void(scenario::Scenario&, sim::Cluster&)> change, double repeats = 1) {
    suspects_.push_back({.cause = cause, .repeats = repeats, .change = std::move(change)});
  }

  const spec::DeviceSpec& device() const {
    return find_device(scenario_.devices, scenario_.all_devices().front().device);
  }
  spec::GpuGeneration generation() const { return device().generation; }

  /// An adapter has 16 lanes to the processor for itself; or those of half a node share them, or those of all.
  void add_ways_through_the_cpu(const spec::GpuClusterSpec& cluster) {
    const double way = pcie_of(generation()).bandwidth / 2;
    double last = cluster.nic.bandwidth;
    for (const double rate : {way, way * std::min(1.0, 2.0 / static_cast<double>(cluster.rails)),
                              way * std::min(1.0, 1.0 / static_cast<double>(cluster.rails)), kPeersByCpu}) {
      if (rate > last / kNearRates) continue;
      last = rate;
      add_cluster("through-the-cpu", [rate](spec::GpuClusterSpec& other) { other.nic.bandwidth = rate; });
      suspects_.back().rate = rate;
      suspects_.back().alone = rate < way;
    }
  }

  void add_network(const spec::GpuClusterSpec& cluster) {
    const bool between = cluster.nodes > 1 && cluster.nic.bandwidth > 0;
    const bool sockets = device().library.has_value() && device().library != spec::CollectiveLibrary::mpi;
    if (between && sockets && cluster.nic.transport == spec::Transport::rdma) {
      add_cluster("tcp-for-rdma", [](spec::GpuClusterSpec& other) { put_over_tcp(other, other.nic.bandwidth); });
      add_ways_through_the_cpu(cluster);
    }
    if (between && sockets && cluster.nic.bandwidth * static_cast<double>(cluster.rails) > 1.01 * kManagement) {
      add_cluster("slow-interface", [](spec::GpuClusterSpec& other) {
        other.rails = 1;
        put_over_tcp(other, kManagement);
      });
    }
    if (between && cluster.rails > 1) add_cluster("one-adapter", [](spec::GpuClusterSpec& other) { other.rails = 1; });
    if (between && cluster.rails > 3 && cluster.rails % 2 == 0)
      add_cluster("half-adapters", [](spec::GpuClusterSpec& other) { other.rails /= 2; });
    if (cluster.gpus > 1 && cluster.port.transport == spec::Transport::nvlink) {
      const spec::LinkSpec lanes = pcie_of(generation());
      add_cluster("pcie-for-nvlink", [lanes](spec::GpuClusterSpec& other) {
        const spec::GpuGeneration own = other.port.generation;
        other.inside = spec::InsideNode::shared;
        other.port = other.bridge = lanes;
        other.port.generation = own;
      });
    }
  }

  void add_devices() {
    add("low-clock", [](scenario::Scenario&, sim::Cluster& cluster) {
      for (spec::DeviceSpec& device : cluster.devices) speed_up(device, kSlowClock);
    });
    if (scenario_.all_devices().size() < kFewDevices) return;
    add("slow-rank", [](scenario::Scenario&, sim::Cluster& cluster) { speed_up(cluster.devices.back(), kSlowDevice); });
  }

  bool shares_gradients() const {
    return scenario_.workers.size() > 1 && std::ranges::any_of(scenario_.runs, [](const spec::RunSpec& run) {
             const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
             return info != nullptr && methods::most_sharding(*info, run) == spec::Sharding::parameters &&
                    run.exchange == spec::ExchangeMode::peer;
           });
  }

  void set_sharding(const char* cause, spec::Sharding sharding) {
    add(cause, [sharding](scenario::Scenario& scenario, sim::Cluster&) {
      scenario.timed_as->parallelism.sharding = sharding;
    });
  }

  void add_steps(const spec::TimedAsSpec& timed) {
    const spec::ParallelismSpec& how = timed.parallelism;
    if (how.experts > 1) add_experts(how);
    if (shares_gradients()) {
      add_exchange(timed);
      if (how.sharding < spec::Sharding::gradients) set_sharding("sharded-gradients", spec::Sharding::gradients);
      if (how.sharding < spec::Sharding::parameters) set_sharding("sharded-parameters", spec::Sharding::parameters);
      const std::int64_t micro_batches = how.micro_batch > 0 ? timed.batch / how.micro_batch : 1;
      if (micro_batches > 1 && how.sharding == spec::Sharding::none && how.pipeline == 1) {
        add(
            "every-micro-batch",
            [](scenario::Scenario& scenario, sim::Cluster&) {
              scenario.timed_as->batch = scenario.timed_as->parallelism.micro_batch;
            },
            static_cast<double>(micro_batches));
      }
    }
    const spec::Precision wide =
        device().peak(spec::Precision::tf32) > 0 ? spec::Precision::tf32 : spec::Precision::fp32;
    if (spec::has_master_copies(timed.precision) && device().peak(wide) > 0) {
      add("wide-precision", [wide](scenario::Scenario& scenario, sim::Cluster&) {
        scenario.timed_as->precision = wide;
        scenario.timed_as->wide_gradients = false;
        scenario.timed_as->loss_scaling = false;
      });
    }
    if (how.recomputation != spec::Recomputation::full && !timed.workload.empty()) {
      add("blocks-again", [](scenario::Scenario& scenario, sim::Cluster&) {
        scenario.timed_as->parallelism.recomputation = spec::Recomputation::full;
      });
    }
    if (!spec::writes_scores(timed.attention)) {
      add("plain-attention",
          [](scenario::Scenario& scenario, sim::Cluster&) { scenario.timed_as->attention = spec::Attention::plain; });
    }
  }

  void change_experts(const char* cause, std::function<void(spec::ParallelismSpec&)> change) {
    add(cause, [change](scenario::Scenario& scenario, sim::Cluster&) { change(scenario.timed_as->parallelism); });
  }

  void add_experts(const spec::ParallelismSpec& how) {
    using spec::ParallelismSpec;
    if (how.expert_launch != spec::ExpertLaunch::counted) {
      change_experts("experts-one-by-one",
                     [](ParallelismSpec& other) { other.expert_launch = spec::ExpertLaunch::counted; });
    }
    const auto set_load = [&](const char* cause, double most) {
      if (how.expert_imbalance < most)
        change_experts(cause, [most](ParallelismSpec& other) { other.expert_imbalance = most; });
    };
    set_load("uneven-experts", 1.5);
    set_load("very-uneven-experts", 2);
    if (how.expert_dispatch != spec::ExpertDispatch::plain)
      change_experts("wide-dispatch", [](ParallelismSpec& other) { other.expert_dispatch = {}; });
    if (how.expert_exchange != spec::ExpertExchange::all_to_all)
      change_experts("rows-for-each-expert", [](ParallelismSpec& other) { other.expert_exchange = {}; });
    const auto* cluster = std::get_if<spec::GpuClusterSpec>(&scenario_.platform.what);
    const std::int64_t group = how.experts * how.expert_tensor;
    if (cluster == nullptr || cluster->nodes < 2 || group > cluster->gpus || how.devices() > 1) return;
    // Neighbours are in different nodes: what experts hand one another leaves the node.
    add("experts-across-nodes", [](scenario::Scenario&, sim::Cluster& other) {
      const auto nodes = static_cast<std::size_t>(std::get<spec::GpuClusterSpec>(other.platform.what).nodes);
      const std::vector<std::string> hosts = other.hosts;
      const std::size_t in_node = hosts.size() / nodes;
      if (in_node * nodes != hosts.size()) return;
      for (std::size_t i = 0; i < hosts.size(); ++i) other.hosts[i] = hosts[i % nodes * in_node + i / nodes];
    });
  }

  void add_exchange(const spec::TimedAsSpec& timed) {
    const auto set_buckets = [&](const char* cause, double bytes) {
      add(cause, [bytes](scenario::Scenario& scenario, sim::Cluster&) {
        for (spec::RunSpec& run : scenario.runs) {
          run.bucket_bytes = bytes;
          run.first_bucket_bytes = std::min(bytes, run.first_bucket_bytes > 0 ? run.first_bucket_bytes : bytes);
        }
      });
    };
    if (timed.parallelism.sharding == spec::Sharding::none) {
      add("no-overlap", [](scenario::Scenario& scenario, sim::Cluster&) {
        for (spec::RunSpec& run : scenario.runs) run.bucket_bytes = run.first_bucket_bytes = kAll;
      });
      set_buckets("small-buckets", kSmallBucket);
    }
    if (spec::has_master_copies(timed.precision) && !timed.wide_gradients)
      add("wide-gradients",
          [](scenario::Scenario& scenario, sim::Cluster&) { scenario.timed_as->wide_gradients = true; });
  }

  static constexpr double kAll = 1e15;  // bytes: more than any network has

  const scenario::Scenario& scenario_;
  std::vector<Suspect> suspects_;
};

}  // namespace

std::vector<Suspect> suspects_of(const scenario::Scenario& scenario) { return Suspects(scenario).all(); }

}  // namespace dadsim::study
