// Timing of recorded steps on the simulated cluster: wall time per step, and against learning the same step.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "plan/step_recorder.hpp"
#include "sim/device.hpp"
#include "sim/simulator.hpp"

namespace dadsim {
namespace {

/// Distinct gather–broadcast steps of five hospitals, three layers.
std::vector<Schedule> hospital_steps(std::size_t count) {
  using namespace extent;
  ModelShape model{
      "mlp",
      {dense_shape("fc1", 784, 512, true), dense_shape("fc2", 512, 256, true), dense_shape("fc3", 256, 10, true)}};
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < count; ++i) {
    StepRecorder recorder;
    recorder.begin(std::vector<std::int32_t>(5, static_cast<std::int32_t>(8 + i)));
    recorder.begin_sweep(Over::layers_backward);
    for (std::int32_t l = 2; l >= 0; --l) {
      recorder.begin_group(l);
      recorder.add(
          ComputeOp{Phase::propagate, Role::workers, {{2.0 * backward_macs(), parameters(), 2.0}}, true, true});
      const std::int32_t up =
          recorder.add(CollectiveOp{CollectiveKind::gather, {{rows() * (in() + out()), ElementType::float32}}});
      recorder.add(WaitOp{Role::aggregator, up});
      const std::int32_t down =
          recorder.add(CollectiveOp{CollectiveKind::broadcast, {{all_rows() * (in() + out()), ElementType::float32}}});
      recorder.add(WaitOp{Role::workers, down});
    }
    const auto [structure, sizes] = recorder.take();
    schedules.push_back(instantiate(structure, sizes, model, model));
  }
  return schedules;
}

void timing(benchmark::State& state) {
  Cluster cluster;
  cluster.platform = std::filesystem::path(__FILE__).parent_path().parent_path() / "platforms" / "hospitals.xml";
  for (int i = 1; i <= 5; ++i) cluster.hosts.push_back("hospital-" + std::to_string(i));
  cluster.devices.assign(5, device_catalog().front());
  cluster.aggregator_host = "hub";
  cluster.aggregator_device = device_catalog().front();
  const std::vector<Schedule> schedules = hospital_steps(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(time_schedules(cluster, schedules));
  state.counters["s/step"] = benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(timing)->Arg(1)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace dadsim
