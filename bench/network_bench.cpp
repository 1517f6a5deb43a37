// Benchmarks one training step (forward, loss, backward, all gradients, Adam) of the networks that bench/torch_step.py
// trains with PyTorch; scripts/bench-torch compares the two. Names end with /SITES/THREADS (0: all). A site has 32
// rows, and batch norms use the statistics of one site. `share_of_peak` is the rate of the fastest step, by processor
// time, relative to the peak of a core in multiply-adds between registers (peak.hpp), which is measured before each
// step.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/gemm/product.hpp"
#include "models/network.hpp"
#include "models/optimizer.hpp"
#include "peak.hpp"
#include "spec/preset.hpp"
#include "support/random.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kRows = 32;

models::Matrix random_matrix(Eigen::Index rows, Eigen::Index columns) {
  RandomStream random(1, Purpose::test);
  boost::random::normal_distribution<float> normal;
  models::Matrix matrix(rows, columns);
  for (float& x : matrix.reshaped()) x = normal(random);
  return matrix;
}

tbb::global_control threads(std::int64_t count) {
  return {tbb::global_control::max_allowed_parallelism,
          count == 0 ? static_cast<std::size_t>(tbb::info::default_concurrency()) : static_cast<std::size_t>(count)};
}

/// Wall-clock and processor time of the fastest call, as in torch_step.py, since other jobs disturb these times least.
class Quickest {
 public:
  template <class Step>
  void time(const Step& step) {
    peak_ = std::max(peak_, bench::burst_gflops());
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = bench::processor_seconds();
    step();
    wall_ = std::min(wall_, std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count());
    cpu_ = std::min(cpu_, bench::processor_seconds() - cpu);
  }
  void report(benchmark::State& state, double flops) const {
    state.counters["quickest_ms"] = 1e3 * wall_;
    state.counters["quickest_cpu_ms"] = 1e3 * cpu_;
    state.counters["share_of_peak"] = 1e-9 * flops / cpu_ / peak_;
  }

 private:
  double wall_ = std::numeric_limits<double>::infinity(), cpu_ = wall_, peak_ = 0;
};

void training_step(benchmark::State& state, const spec::ModelSpec& spec, const spec::SampleShape& sample) {
  const auto limit = threads(state.range(1));
  const std::int64_t samples = state.range(0) * kRows;
  models::Network network(sample, spec, 1);
  models::Matrix inputs = random_matrix(samples, sample.size());
  if (sample.vocabulary > 0) {
    for (Eigen::Index i = 0; i < inputs.size(); ++i) inputs.data()[i] = static_cast<float>(i % sample.vocabulary);
  }
  const spec::SampleShape out = network.output_shape();
  std::vector<std::int32_t> labels(static_cast<std::size_t>(samples * out.positions()));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % out.channels);
  const auto optimizer = make_optimizer({}, network);
  models::Tape tape;
  models::Gradient gradient;
  gradient.matrices.resize(network.layers());
  std::vector<Eigen::Index> sites;
  for (Eigen::Index site = 0; site <= state.range(0); ++site) sites.push_back(site * kRows);
  const models::Pass pass{.training = true, .sites = sites, .seed = 1, .step = 0};
  const auto step = [&] {
    network.forward(inputs, pass, tape);
    benchmark::DoNotOptimize(network.loss(labels, static_cast<float>(labels.size()), tape));
    for (std::size_t l = network.layers(); l-- > 0;) {
      if (!network.layer(l).embedding) network.weight_gradient(l, tape, gradient.matrices[l]);
      network.backpropagate(l, tape);
    }
    for (std::size_t l = 0; l < network.layers(); ++l) {
      if (!network.layer(l).embedding) continue;
      gradient.matrices[l].weight.setZero(network.layer(l).out(), network.layer(l).in());
      network.add_embedding_gradient(l, tape, 0, samples, gradient.matrices[l].weight);
    }
    gradient.vectors = tape.vector_gradients;
    optimizer->update(network, gradient, 1e-3);
  };
  step();
  Quickest quickest;
  for (auto _ : state) quickest.time(step);
  // A layer has three products: forward, weight gradient, and input gradient, which the first layer does not need.
  const spec::ModelShape& shape = network.shape();
  const double macs = 3.0 * shape.forward_macs_per_sample() - shape.layers.front().forward_macs_per_sample;
  const double flops = 2.0 * macs * static_cast<double>(samples);
  quickest.report(state, flops);
  state.counters["Gflop/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * flops / 1e9, benchmark::Counter::kIsRate);
}

/// Computes C = A B with n × n matrices.
void product(benchmark::State& state, bool own) {
  const auto limit = threads(state.range(1));
  const auto n = state.range(0);
  const models::Matrix a = random_matrix(n, n);
  const models::Matrix b = random_matrix(n, n);
  models::Matrix c(n, n);
  Quickest quickest;
  const auto step = [&] {
    if (own) {
      models::multiply<float>(a, b, c);
    } else {
      c.noalias() = a * b;
    }
    benchmark::DoNotOptimize(c.data());
  };
  for (auto _ : state) quickest.time(step);
  const double flops = 2.0 * static_cast<double>(n * n * n);
  quickest.report(state, flops);
  state.counters["Gflop/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * flops / 1e9, benchmark::Counter::kIsRate);
}

void add(const std::string& name, const spec::ModelSpec& spec, const spec::SampleShape& sample) {
  auto* bench = benchmark::RegisterBenchmark(
      name.c_str(), [spec, sample](benchmark::State& state) { training_step(state, spec, sample); });
  for (const std::int64_t count : {1, 2, 0}) {
    for (const std::int64_t sites : {1, 8, 64}) bench->Args({sites, count});
  }
  bench->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
}

spec::ModelSpec preset(const std::string& name, const spec::SampleShape& sample, std::int64_t classes) {
  const spec::Preset& found = *spec::preset_registry().find(name);
  return found.make(default_parameters(found.parameters), sample, classes);
}

const bool kRegistered = [] {
  spec::ModelSpec mlp;
  mlp.layers = {spec::DenseSpec{.units = 1024}, spec::DenseSpec{.units = 1024},
                spec::DenseSpec{.units = 10, .activation = spec::Activation::identity}};
  add("mlp", mlp, {.height = 1, .width = 1, .channels = 784});
  const spec::SampleShape series{.height = 1, .width = 93, .channels = 13};
  spec::ModelSpec recurrent = preset("gru-classifier", series, 10);
  add("gru", recurrent, series);
  std::get<spec::RecurrentSpec>(recurrent.layers.front().what).cell = spec::RecurrentSpec::Cell::lstm;
  add("lstm", recurrent, series);
  const spec::SampleShape text{.height = 1, .width = 64, .channels = 1, .vocabulary = 64};
  add("transformer", preset("language-model", text, 64), text);
  const spec::SampleShape digit{.height = 28, .width = 28, .channels = 1};
  add("lenet", preset("lenet", digit, 10), digit);
  const spec::SampleShape picture{.height = 32, .width = 32, .channels = 3};
  add("resnet-8", preset("resnet-8", picture, 10), picture);
  for (const bool own : {true, false}) {
    benchmark::RegisterBenchmark(own ? "product" : "eigen", [own](benchmark::State& state) { product(state, own); })
        ->Args({2048, 1})
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime()
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace dadsim
