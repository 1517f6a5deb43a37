#include "study/diagnose/diagnose_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "estimate/bands.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "spec/precision.hpp"
#include "study/explain/changes.hpp"
#include "study/measured/collective_times.hpp"
#include "study/measured/timed_sizes.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/timed_as.hpp"
#include "study/trials/outcome.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/version.hpp"

namespace dadsim::study {
namespace {

/// A possible fault of a training job or its cluster, as a change of the simulation.
struct Suspect {
  std::string cause;        ///< name of the cause, as in report/words/diagnoses.cpp
  bool of_network = false;  ///< true: it also changes collectives timed without a step
  double repeats = 1;       ///< number of changed steps that replace one step of the scenario
  double rate = 0;          ///< byte/s left of an adapter, the severity; 0: the cause has only one severity
  bool alone = false;       ///< true: this severity can explain collectives measured alone, but not a step
  std::function<void(scenario::Scenario&, sim::Cluster&)> change;
};

constexpr double kSlowClock = 0.7;      // clock ÷ usual clock
constexpr double kSlowDevice = 0.5;     // speed ÷ usual speed
constexpr double kSmallBucket = 1e6;    // bytes
constexpr double kManagement = 1.25e9;  // byte/s of 10 Gbit/s
constexpr double kPeersByCpu = 2.4e9;   // byte/s (NVIDIA/nccl, issue 908)
constexpr double kNearRates = 1.2;      // ratio of two rates below which they count as equal
constexpr std::size_t kFewDevices = 2;
/// Threads that serve an adapter's sockets by default: 4 and 5 GB/s over 100 and 200 Gbit/s (NVIDIA/nccl, issue 465;
/// areal-project/AReaL, issue 639) are two threads of 20 Gbit/s.
constexpr std::int64_t kSocketThreads = 2;

spec::LinkSpec link_of(const char* name) {
  const spec::LinkSpec* found = sim::find_link(name);
  return found == nullptr ? spec::LinkSpec{} : *found;
}

/// Returns a PCIe link of 16 lanes, of the generation used with these GPUs.
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

/// Returns the fastest Ethernet link of the catalogue up to this rate, with TCP.
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

  /// Adds suspects with messages through the processor: 16 lanes per adapter, 16 lanes shared by half or all of a
  /// node's GPUs, or peer-to-peer reads that the processor forwards.
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
    const bool sockets =
        device().library == spec::CollectiveLibrary::nccl || device().library == spec::CollectiveLibrary::rccl;
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
    // Consecutive ranks are placed in different nodes, so that rows exchanged between experts leave the node.
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

/// Returns the suspected causes; those that the scenario already has, or cannot have, are left out. Causes of the
/// network need a platform that is one <gpu-cluster>; TCP, 10 Gbit/s and messages through the processor also need NCCL
/// or RCCL as library:
///   - TCP instead of RDMA: the adapters keep their rate, and the library uses its sockets;
///   - a network of 10 Gbit/s, with one such adapter;
///   - one adapter, or half of them;
///   - messages through the processor: data between a GPU and its adapter crosses the same PCIe link twice, which
///     leaves the adapter half the rate of 16 lanes of the GPU's generation (NVIDIA/nccl, issue 412: 16 GB/s over an
///     HDR adapter at PCIe 4). The rate is lower if half or all of a node's GPUs share 16 lanes to the processor,
///     behind a switch, and lowest if the processor forwards peer-to-peer reads (issue 908: 2.4 GB/s). Each is a
///     suspect; rates below half are suspects for single collectives only;
///   - PCIe instead of NVLink: a bridge of 16 lanes that all share.
/// With experts, the causes are: experts launched one by one, uneven loads, groups that span nodes, and rows sent
/// without the scenario's optimisations.
std::vector<Suspect> suspects_of(const scenario::Scenario& scenario) { return Suspects(scenario).all(); }

constexpr double kNoDifference = 0.02;  // smallest relative change of the time that a cause must make
constexpr double kIdle = 0.15;          // share of a profiled step; more idle time is reported

/// Simulated times of a measurement.
struct SimulatedTimes {
  std::vector<double> seconds = {};                   ///< simulated seconds of each measured time
  std::optional<double> computing = {};               ///< computing seconds of a step
  std::vector<report::RunResult> runs = {};           ///< per step that was measured
  std::vector<report::CollectiveRow> rows = {};       ///< per collective, with the library's algorithm
  std::vector<report::CollectiveRow> alternate = {};  ///< per collective, with the ring algorithm
};

double distance_of(double simulated, double measured) { return std::log(simulated / measured); }

class Diagnoser {
 public:
  Diagnoser(const scenario::Scenario& scenario, const Measurement& measured)
      : scenario_(scenario), measured_(measured) {
    diagnosis_.collective = !measured.collectives.empty();
    diagnosis_.source = measured.source;
    diagnosis_.build = build();
    diagnosis_.scenario_name = scenario.name;
    diagnosis_.description = scenario.description;
    choose_run();
  }

  report::Diagnosis diagnose(bool show_progress) {
    if (!diagnosis_.collective) choose_sizes(show_progress);
    const SimulatedTimes expected = simulate({});
    describe();
    compare(expected);
    if (diagnosis_.verdict != report::Diagnosis::SpeedVerdict::quicker) suspect(expected, show_progress);
    return std::move(diagnosis_);
  }

 private:
  void choose_run() {
    const auto shares = [](const spec::RunSpec& run) { return run.communicates && !run.event_driven; };
    auto run = std::ranges::find_if(scenario_.runs, shares);
    if (run == scenario_.runs.end())
      run = std::ranges::find_if(scenario_.runs, [](const spec::RunSpec& one) { return !one.event_driven; });
    if (run == scenario_.runs.end()) {
      throw InputError({scenario_.file, 0, "diagnose needs a run that takes steps",
                        "add a run that shares gradients between peers (exchange=\"peer\")"});
    }
    const spec::RunSpec only = *run;
    scenario_.runs = {only};
    scenario_.timing_only = true;
    scenario_.costs.reset();
    // A diagnosis simulates many steps, so it uses the flow model unless the scenario sets the fidelity.
    if (!diagnosis_.collective && scenario_.network.fidelity == spec::Fidelity::automatic)
      scenario_.network.fidelity = spec::Fidelity::flow;
  }

  /// Restricts the scenario to its first devices, as many as were measured.
  scenario::Scenario on_devices(std::int64_t devices) const {
    scenario::Scenario some = scenario_;
    const std::vector<spec::Placement> all = scenario_.all_devices();
    if (devices == 0 || devices == static_cast<std::int64_t>(all.size())) return some;
    const spec::ParallelismSpec how = scenario_.timed_as ? scenario_.timed_as->parallelism : spec::ParallelismSpec{};
    if (devices > static_cast<std::int64_t>(all.size()) || devices % how.devices() != 0) {
      throw InputError({scenario_.file, 0,
                        fmt::format("{} devices were measured, but the scenario has {}{}", devices, all.size(),
                                    how.devices() > 1 ? fmt::format(", {} to a worker", how.devices()) : ""),
                        "use a scenario with as many devices, in whole workers"});
    }
    const std::vector<spec::Placement> first(all.begin(), all.begin() + devices);
    const auto to_a_place = static_cast<std::size_t>(how.tensor * how.context);  // devices per stage
    some.workers.clear();
    for (std::int64_t i = 0; i < devices / how.devices(); ++i)
      some.workers.push_back(first[static_cast<std::size_t>(i) * to_a_place]);
    if (!some.devices_of_workers.empty()) some.devices_of_workers = first;
    return some;
  }

  void choose_sizes(bool show_progress) {
    for (const MeasuredStep& step : measured_.steps) {
      scenario::Scenario some = on_devices(step.devices);
      Learned learned = learn_scenario(some, nullptr, show_progress);
      sizes_.push_back({&step, std::move(some), std::move(learned)});
    }
    if (sizes_.empty()) throw InputError({measured_.source, 0, "lacks the time of a step", "add --step"});
  }

  // ---- what is simulated ----

  SimulatedTimes simulate(const Suspect& suspect) const {
    if (diagnosis_.collective) {
      scenario::Scenario scenario = scenario_;
      sim::Cluster cluster = cluster_of(scenario);
      if (suspect.change) suspect.change(scenario, cluster);
      cluster.hosts.resize(ranks());
      return simulate_collectives(cluster);
    }
    SimulatedTimes simulated;
    for (const Size& size : sizes_) {
      scenario::Scenario scenario = size.scenario;
      sim::Cluster cluster = cluster_of(scenario);
      if (suspect.change) suspect.change(scenario, cluster);
      cluster.causes = false;
      const report::Result result = time_scenario(scenario, size.learned, cluster, false);
      const report::RunResult& run = result.runs.front();
      simulated.seconds.push_back(suspect.repeats * run.step_seconds);
      simulated.runs.push_back(run);
    }
    simulated.computing = suspect.repeats * simulated.runs.front().compute_seconds;
    return simulated;
  }

  /// Simulates the library's algorithm and, for all-reduce, the ring algorithm. A measured time alone does not show
  /// which one ran: between two nodes a tree needs half the time of rings. `seconds` is the time nearer to the
  /// measurement.
  SimulatedTimes simulate_collectives(const sim::Cluster& cluster) const {
    CollectiveSizes sizes{.operation = measured_.operation, .bytes = {}};
    for (const MeasuredCollective& one : measured_.collectives) sizes.bytes.push_back(one.bytes);
    SimulatedTimes simulated;
    simulated.rows = simulated.alternate = time_sizes(cluster, sizes).rows;
    sizes.algorithm = "ring";
    if (sizes.operation == report::Operation::all_reduce) simulated.alternate = time_sizes(cluster, sizes).rows;
    for (std::size_t i = 0; i < sizes.bytes.size(); ++i) {
      const double measured = measured_collective(measured_.collectives[i]);
      const double chosen = simulated.rows[i].warm_seconds;
      const double ring = simulated.alternate[i].warm_seconds;
      const bool nearer = std::abs(distance_of(ring, measured)) < std::abs(distance_of(chosen, measured));
      simulated.seconds.push_back(nearer ? ring : chosen);
    }
    return simulated;
  }

  // ---- what was measured ----

  std::int64_t devices_of(const MeasuredStep& measured) const {
    return measured.devices > 0 ? measured.devices : static_cast<std::int64_t>(scenario_.all_devices().size());
  }

  /// Returns the number of devices that take part in a collective.
  std::size_t ranks() const { return measured_.ranks > 0 ? measured_.ranks : scenario_.all_devices().size(); }

  double measured_collective(const MeasuredCollective& one) const {
    return one.seconds ? *one.seconds : bus_factor(measured_.operation, ranks()) * one.bytes / *one.bus_bandwidth;
  }

  void describe() {
    if (diagnosis_.collective) {
      const bool to_next = measured_.operation == report::Operation::neighbour_exchange;
      const std::string name = to_next ? "send to the next" : to_string(measured_.operation);
      diagnosis_.of = fmt::format("{} {} among {} devices", name.starts_with('a') ? "An" : "A", name, ranks());
    } else {
      const std::string workload = scenario_.timed_as ? scenario_.timed_as->workload : "";
      diagnosis_.of = fmt::format("A step of {}", workload.empty() ? "the network" : workload);
      if (measured_.profile && measured_.profile->computing > 0) diagnosis_.computing = measured_.profile->computing;
      diagnosis_.assumptions = untimed_result(sizes_.back().scenario, sizes_.back().learned).assumptions;
    }
    diagnosis_.version = kVersion;
    diagnosis_.simgrid = sim::simgrid_version();
    diagnosis_.network_model = sim::network_model_description();
  }

  void compare(const SimulatedTimes& expected) {
    if (diagnosis_.collective) {
      for (std::size_t i = 0; i < measured_.collectives.size(); ++i) {
        const MeasuredCollective& one = measured_.collectives[i];
        const report::CollectiveRow& row = expected.rows[i];
        const report::CollectiveRow& ring = expected.alternate[i];
        diagnosis_.times.push_back(
            {.bytes = one.bytes,
             .devices = static_cast<std::int64_t>(ranks()),
             .measured = measured_collective(one),
             .expected = row.warm_seconds,
             .low = std::min(row.band.low * row.warm_seconds, ring.band.low * ring.warm_seconds),
             .high = std::max(row.band.high * row.warm_seconds, ring.band.high * ring.warm_seconds)});
      }
    } else {
      for (std::size_t i = 0; i < sizes_.size(); ++i) {
        const report::RunResult& run = expected.runs[i];
        report::DiagnosedTime time{
            .devices = devices_of(*sizes_[i].measured),
            .measured = seconds_of(*sizes_[i].measured, devices_of(*sizes_[i].measured), work_of_step(run),
                                   {scenario_.file, 0, "", "use the time of a step (--step)"}, measured_.source),
            .expected = run.step_seconds,
            .low = run.step_seconds,
            .high = run.step_seconds};
        if (run.step_band) time.low = run.step_band->low;
        if (run.step_band) time.high = run.step_band->high;
        diagnosis_.times.push_back(time);
      }
    }
    diagnosis_.verdict = verdict();
    tell_of_profile(expected);
    if (diagnosis_.verdict == report::Diagnosis::SpeedVerdict::slower && !diagnosis_.collective)
      tell_what_is_free(expected);
  }

  /// Returns the verdict on the mean time by its band. If the mean time of steps is inside, one number of devices whose
  /// time is outside its own band decides, unless others are outside on the opposite side.
  report::Diagnosis::SpeedVerdict verdict() const {
    using enum report::Diagnosis::SpeedVerdict;
    const double measured = diagnosis_.measured();
    if (measured > diagnosis_.high()) return slower;
    if (measured < diagnosis_.low()) return quicker;
    if (diagnosis_.collective) return as_expected;
    const auto& times = diagnosis_.times;
    const bool above = std::ranges::any_of(times, [](const auto& one) { return one.measured > one.high; });
    const bool below = std::ranges::any_of(times, [](const auto& one) { return one.measured < one.low; });
    if (above == below) return as_expected;
    return above ? slower : quicker;
  }

  void tell_of_profile(const SimulatedTimes& expected) {
    if (!measured_.profile) return;
    const formats::ProfiledStep& profile = *measured_.profile;
    report::Statement profiled = report::Statement{"profiled"}
                                     .with("computing", profile.computing)
                                     .with("expected_computing", expected.computing.value_or(0))
                                     .with("communicating", profile.communicating);
    if (profile.idle) profiled.with("idle", *profile.idle);
    diagnosis_.evidence.push_back(std::move(profiled));
    const double step = diagnosis_.times.front().measured;
    if (profile.idle.value_or(0) > kIdle * step)
      diagnosis_.evidence.push_back(report::Statement{"idle-device"}.with("share", *profile.idle / step));
  }

  void tell_what_is_free(const SimulatedTimes& expected) {
    const report::DiagnosedTime& time = diagnosis_.times.back();
    const report::RunResult& run = expected.runs.back();
    if (run.throughput) {
      const double all = run.throughput->samples * run.step_seconds / time.measured;
      diagnosis_.free.push_back(report::Statement{"input-bound"}.with(
          "samples_per_second", all / static_cast<double>(sizes_.back().scenario.workers.size())));
    }
    diagnosis_.free.push_back(
        with_library(report::Statement{"host-bound"}.with("seconds", time.measured - time.expected)));
  }

  // ---- what may be wrong ----

  void suspect(const SimulatedTimes& expected, bool show_progress) {
    std::vector<Suspect> suspects = suspects_of(scenario_);
    std::erase_if(suspects, [&](const Suspect& one) { return diagnosis_.collective ? !one.of_network : one.alone; });
    Progress progress("suspects", suspects.size(), show_progress);
    const auto tried = outcomes_of(
        suspects.size(), [&](std::size_t i) { return simulate(suspects[i]); }, &progress);
    const double as_it_is = distance_to_measured(expected);
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      if (tried[i].result) add(suspects[i], *tried[i].result, expected, as_it_is);
    }
    std::ranges::stable_sort(diagnosis_.suspicions, {}, [](const report::Suspicion& one) {
      return std::pair{!one.explains, one.distance};
    });
    // Only the severity nearest to the measurement is kept for each cause.
    std::set<std::string> named;
    std::erase_if(diagnosis_.suspicions,
                  [&](const report::Suspicion& one) { return !named.insert(one.cause.text("cause")).second; });
  }

  /// Returns the statement with the library of the devices, because the suggested check depends on the library.
  report::Statement with_library(report::Statement statement) const {
    const auto& library = find_device(scenario_.devices, scenario_.all_devices().front().device).library;
    if (library) statement.with("library", std::string(to_string(*library)));
    return statement;
  }

  /// Returns the weight of errors of single sizes relative to errors common to all sizes, at least 1. For steps: the
  /// band width of the last time ÷ the band width of the ratio of the last and the first time, which counts as at least
  /// 2 `kNoDifference`. For collectives: the whole spread ÷ the spread between sizes.
  double weight_of_differences(const SimulatedTimes& one) const {
    if (diagnosis_.collective) {
      const std::string& category = one.rows.back().category;
      const estimate::Spread spread = category.empty() ? estimate::Spread{} : estimate::error_category(category).spread;
      return spread.within > 0 ? std::hypot(spread.between, spread.within) / spread.within : 1;
    }
    const auto& first = one.runs.front().step_band;
    const auto& last = one.runs.back().step_band;
    if (!first || !last) return 1;
    const estimate::Band ratio = estimate::ratio_band(last->parts, first->parts);
    const double alone = std::log(last->high / last->low);
    return std::max(1.0, alone / std::max(2 * kNoDifference, std::log(ratio.high / ratio.low)));
  }

  double distance_to_measured(const SimulatedTimes& one) const {
    const auto count = static_cast<double>(diagnosis_.times.size());
    double mean = 0;
    double squares = 0;
    for (std::size_t i = 0; i < diagnosis_.times.size(); ++i) {
      const double off = distance_of(one.seconds[i], diagnosis_.times[i].measured);
      mean += off / count;
      squares += off * off / count;
    }
    const double apart = std::max(0.0, squares - mean * mean);
    const double weight = count > 1 ? weight_of_differences(one) : 1;
    double sum = mean * mean + weight * weight * apart;
    if (diagnosis_.computing && one.computing && *one.computing > 0) {
      const double off = distance_of(*one.computing, *diagnosis_.computing);
      sum = (count * sum + off * off) / (count + 1);
    }
    return std::sqrt(sum);
  }

  void add(const Suspect& suspect, const SimulatedTimes& simulated, const SimulatedTimes& expected, double as_it_is) {
    double difference = 0;
    double log_ratio = 0;
    for (std::size_t i = 0; i < simulated.seconds.size(); ++i) {
      difference = std::max(difference, simulated.seconds[i] / expected.seconds[i] - 1);
      log_ratio += std::log(diagnosis_.times[i].measured / simulated.seconds[i]);
    }
    if (difference < kNoDifference) return;
    report::Suspicion one{with_library(report::Statement{"cause"}.with("cause", suspect.cause)), simulated.seconds,
                          diagnosis_.computing ? simulated.computing : std::nullopt, distance_to_measured(simulated)};
    if (suspect.rate > 0) one.cause.with("rate", suspect.rate);
    const double ratio = std::exp(log_ratio / static_cast<double>(simulated.seconds.size()));
    const report::CollectiveRow* row = diagnosis_.collective ? &expected.rows.back() : nullptr;
    const double low = row != nullptr ? row->band.low : diagnosis_.low() / diagnosis_.expected();
    const double high = row != nullptr ? row->band.high : diagnosis_.high() / diagnosis_.expected();
    one.explains = ratio >= low && ratio <= high;
    for (std::size_t i = 0; i < simulated.seconds.size() && !diagnosis_.collective; ++i) {  // every size must fit
      const report::DiagnosedTime& time = diagnosis_.times[i];
      const double longer = simulated.seconds[i] / time.expected;
      one.explains = one.explains && time.measured >= longer * time.low && time.measured <= longer * time.high;
    }
    const bool slower = diagnosis_.verdict == report::Diagnosis::SpeedVerdict::slower;
    if (slower ? one.distance < as_it_is : one.explains) diagnosis_.suspicions.push_back(std::move(one));
  }

  /// A measured step with the scenario of its number of devices.
  struct Size {
    const MeasuredStep* measured = nullptr;
    scenario::Scenario scenario;
    Learned learned;
  };

  scenario::Scenario scenario_;
  const Measurement& measured_;
  std::vector<Size> sizes_;
  report::Diagnosis diagnosis_;
};

}  // namespace

report::Diagnosis diagnose_scenario(const scenario::Scenario& scenario, const Measurement& measured,
                                    bool show_progress) {
  return Diagnoser(scenario, measured).diagnose(show_progress);
}

}  // namespace dadsim::study
