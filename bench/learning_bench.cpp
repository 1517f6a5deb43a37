// Benchmarks one training step of each algorithm against its bare matrix products, which every implementation needs.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <boost/random/normal_distribution.hpp>

#include "algorithms/registry.hpp"
#include "algorithms/step/training_step.hpp"
#include "support/random.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kRows = 32;
const std::vector<std::int64_t> kWidths{784, 1024, 1024, 10};

models::Matrix random_matrix(Eigen::Index rows, Eigen::Index columns) {
  RandomStream random(1, Purpose::test);
  boost::random::normal_distribution<float> normal;
  models::Matrix matrix(rows, columns);
  for (float& x : matrix.reshaped()) x = normal(random);
  return matrix;
}

void training_step(benchmark::State& state, const algorithms::SynchronousMethod& info) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const auto sites = state.range(0);
  spec::ModelSpec spec;
  for (std::size_t l = 1; l < kWidths.size(); ++l) {
    spec.layers.push_back(spec::DenseSpec{
        kWidths[l], l + 1 == kWidths.size() ? spec::Activation::identity : spec::Activation::relu, true});
  }
  const models::Network network(kWidths.front(), spec, 1);
  algorithms::TrainingStep step(network, spec::ExchangeMode::aggregator, 1);
  models::Samples samples{random_matrix(sites * kRows, kWidths.front()), {}};
  std::vector<std::vector<std::int32_t>> batch(static_cast<std::size_t>(sites));
  for (std::int32_t i = 0; i < sites * kRows; ++i) {
    samples.labels.push_back(i % 10);
    batch[static_cast<std::size_t>(i / kRows)].push_back(i);
  }
  const auto algorithm = make_algorithm(info);
  std::int64_t number = 0;
  for (auto _ : state) {
    step.begin(number++, samples, batch);
    run_step(info, *algorithm, step);
    benchmark::DoNotOptimize(step.gradient(0).weight.data());
  }
  state.counters["Gflop/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * sites * kRows) * 6.0 * network.shape().forward_macs_per_sample() / 1e9,
      benchmark::Counter::kIsRate);
}

/// The peer: forward, backward and weight-gradient products of the same stacked batch in plain Eigen, and nothing else.
void bare_products(benchmark::State& state) {
  const auto rows = state.range(0) * kRows;
  std::vector<models::Matrix> activations;
  std::vector<models::Matrix> weights;
  std::vector<models::Matrix> deltas;
  for (std::size_t l = 0; l + 1 < kWidths.size(); ++l) {
    activations.push_back(random_matrix(rows, kWidths[l]));
    weights.push_back(random_matrix(kWidths[l + 1], kWidths[l]));
    deltas.push_back(random_matrix(rows, kWidths[l + 1]));
  }
  models::Matrix out;
  for (auto _ : state) {
    for (std::size_t l = 0; l < weights.size(); ++l) {
      out.noalias() = activations[l] * weights[l].transpose();
      benchmark::DoNotOptimize(out.data());
      out.noalias() = deltas[l].transpose() * activations[l];
      benchmark::DoNotOptimize(out.data());
      if (l > 0) out.noalias() = deltas[l] * weights[l];
      benchmark::DoNotOptimize(out.data());
    }
  }
}

BENCHMARK(bare_products)->Arg(2)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

const bool kRegistered = [] {
  for (const algorithms::SynchronousMethod& info : algorithms::algorithm_registry().all()) {
    if (info.sharing == algorithms::Sharing::one_network) {
      benchmark::RegisterBenchmark(("training_step/" + info.name).c_str(),
                                   [&info](benchmark::State& s) { training_step(s, info); })
          ->Arg(2)
          ->Arg(8)
          ->Arg(64)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace dadsim
