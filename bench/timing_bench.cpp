// Benchmarks timing on the simulated cluster: recorded steps, collectives by message (against SMPI's), and collectives
// by flow.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "schedule/fuse.hpp"
#include "sim/declared.hpp"
#include "sim/device.hpp"
#include "sim/smpi_collective.hpp"
#include "sim/star.hpp"
#include "step/step_recorder.hpp"

// clang-format off
#include <benchmark/benchmark.h>  // included after SMPI, whose macros redefine standard names
// clang-format on

namespace dadsim {
namespace {

/// Returns the processor seconds so far of all child processes; each simulation runs in a child.
double children_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Returns the peak memory of the largest child process so far, MB. Benchmarks therefore run in the order of their
/// sizes.
double children_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// ---- recorded steps ----

/// Returns different gather-broadcast steps of five hospitals with three layers.
std::vector<schedule::Schedule> hospital_steps(std::size_t count) {
  using namespace step::extent;
  spec::ModelShape model{"mlp",
                         {spec::dense_shape("fc1", 784, 512, true), spec::dense_shape("fc2", 512, 256, true),
                          spec::dense_shape("fc3", 256, 10, true)}};
  std::vector<schedule::Schedule> schedules;
  for (std::size_t i = 0; i < count; ++i) {
    step::StepRecorder recorder;
    recorder.begin(std::vector<std::int32_t>(5, static_cast<std::int32_t>(8 + i)));
    recorder.begin_sweep(step::Over::layers_backward);
    for (std::int32_t l = 2; l >= 0; --l) {
      recorder.begin_group(l);
      recorder.add(step::ComputeOp{
          step::Phase::backpropagate, step::Role::workers, {{2.0 * backward_macs(), parameters(), 2.0}}, true, true});
      const std::int32_t up = recorder.add(
          step::CollectiveOp{step::CollectiveKind::gather, {{rows() * (in() + out()), step::ElementType::float32}}});
      recorder.add(step::WaitOp{step::Role::aggregator, up});
      const std::int32_t down = recorder.add(step::CollectiveOp{
          step::CollectiveKind::broadcast, {{all_rows() * (in() + out()), step::ElementType::float32}}});
      recorder.add(step::WaitOp{step::Role::workers, down});
    }
    const auto [structure, sizes] = recorder.take();
    schedules.push_back(schedule::instantiate(structure, sizes, model, model));
  }
  return schedules;
}

void timing(benchmark::State& state) {
  sim::Cluster cluster;
  const auto folder = std::filesystem::path(__FILE__).parent_path().parent_path() / "platforms";
  cluster.platform.what = spec::PlatformFileSpec{folder / "hospitals.xml", spec::Transport::plain};
  for (int i = 1; i <= 5; ++i) cluster.hosts.push_back("hospital-" + std::to_string(i));
  cluster.devices.assign(5, sim::device_catalog().all().front());
  cluster.aggregator_host = "hub";
  cluster.aggregator_device = sim::device_catalog().all().front();
  const std::vector<schedule::Schedule> schedules = hospital_steps(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(time_schedules(cluster, schedules));
  state.counters["s/step"] = benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(timing)->Arg(1)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

// ---- collectives, message by message ----

/// Returns hosts around one switch, with 100 Gbit/s and 1 µs each.
spec::PlatformSpec star(std::int64_t hosts) {
  const spec::LinkSpec nic = test::line(12.5e9, 1e-6);
  return {"", test::cluster_of(hosts, 1, nic, nic), {}, {}};
}

constexpr int kBlockFloats = 1024;  // floats per rank

void count_messages(benchmark::State& state, double seconds) {
  const auto ranks = static_cast<double>(state.range(0));
  const double messages = static_cast<double>(state.iterations()) * 2 * (ranks - 1) * ranks;
  state.counters["us/message"] = 1e6 * seconds / messages;  // processor time
  state.counters["MB"] = children_megabytes();
}

void ring_by_message(benchmark::State& state) {
  const spec::PlatformSpec platform = star(state.range(0));
  const std::vector<sim::CollectiveJob> jobs{
      test::job(step::CollectiveKind::all_reduce, "ring", 4.0 * kBlockFloats * static_cast<double>(state.range(0)))};
  const double before = children_seconds();
  for (auto _ : state) {
    benchmark::DoNotOptimize(time_collectives(test::workers_on(platform, spec::Fidelity::message), jobs));
  }
  count_messages(state, children_seconds() - before);
}

/// Times the ring of SMPI on the same platform; SMPI also computes the sums.
void ring_by_smpi(benchmark::State& state) {
  const spec::PlatformSpec platform = star(state.range(0));
  const double before = children_seconds();
  for (auto _ : state) {
    benchmark::DoNotOptimize(test::by_smpi(platform, simgrid::smpi::allreduce__lr, nullptr, kBlockFloats));
  }
  count_messages(state, children_seconds() - before);
}

BENCHMARK(ring_by_message)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ring_by_smpi)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

// ---- by flow ----

/// Returns nodes of eight H100 with NVLink 4 inside, and four adapters of 400 Gbit/s into a fat tree without
/// oversubscription.
spec::PlatformSpec pod(std::int64_t gpus) {
  const spec::LinkSpec nic = test::line(50e9, 1e-6, spec::Transport::rdma, 0.9);
  spec::GpuClusterSpec cluster =
      test::cluster_of(gpus / 8, 8, test::line(450e9, 5e-7, spec::Transport::nvlink, 0.8), nic);
  cluster.rails = 4;
  // A leaf has 16 nodes, and one wide link to each of eight spines.
  spec::LinkSpec trunk = nic;
  trunk.bandwidth = 8 * nic.bandwidth;
  cluster.fabric = test::fat_tree(16, trunk);
  return {"", cluster, {}, {}};
}

void ring_by_flow(benchmark::State& state) {
  const spec::PlatformSpec platform = pod(state.range(0));
  const std::vector<sim::CollectiveJob> jobs{test::job(step::CollectiveKind::all_reduce, "ring", 1e8)};
  const sim::Cluster cluster = test::workers_on(platform, spec::Fidelity::flow);
  double messages = 0;
  for (auto _ : state) messages += time_collectives(cluster, jobs).network.messages;
  if (messages > 0) state.SkipWithError("was not timed by flow");
  state.counters["MB"] = children_megabytes();
}

/// Measures the platform without messages, which is the fixed cost of the benchmarks above.
void platform_alone(benchmark::State& state) {
  const spec::PlatformSpec platform = pod(state.range(0));
  std::vector<sim::CollectiveJob> jobs{test::job(step::CollectiveKind::broadcast, "flat", 1)};
  sim::Cluster cluster = test::workers_on(platform, spec::Fidelity::flow, 1);
  for (auto _ : state) benchmark::DoNotOptimize(time_collectives(cluster, jobs));
}

/// Returns a step of BERT-large (335 M parameters) with gradient sharing, with gradients of the backward pass in
/// buckets of 25 MB.
schedule::Schedule bert_step(std::size_t workers) {
  test::Script script(workers, false);
  std::vector<std::int32_t> sums;
  const auto layer = [&](double parameters) {
    script.compute(1e-4);
    sums.push_back(script.collective(step::CollectiveKind::all_reduce, test::same(4 * parameters), "halving-doubling"));
  };
  script.compute(0.03);
  for (int block = 0; block < 24; ++block) {
    layer(4096.0 * 1024);
    layer(1024.0 * 4096);
    for (int matrix = 0; matrix < 4; ++matrix) layer(1024.0 * 1024);
  }
  layer(31e6);  // embeddings
  for (const std::int32_t sum : sums) script.wait(sum).compute(1e-5);
  return fuse_all_reduces(script.schedule(), 25e6);
}

void bert_step_by_flow(benchmark::State& state) {
  sim::Cluster cluster = test::workers_on(pod(state.range(0)), spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  const std::vector<schedule::Schedule> schedules{bert_step(cluster.hosts.size())};
  double messages = 0;
  for (auto _ : state) messages += time_schedules(cluster, schedules).network.messages;
  if (messages > 0) state.SkipWithError("was not timed by flow");
  state.counters["MB"] = children_megabytes();
}

BENCHMARK(platform_alone)->Arg(1024)->Arg(4096)->Arg(16384)->Arg(65536)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ring_by_flow)->RangeMultiplier(4)->Range(64, 16384)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(bert_step_by_flow)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ring_by_flow)->Arg(65536)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace dadsim
