// Compares learning with and without the observer of messages (docs/leak.md), by the processor time of one thread. Runs
// each method three times, in turn. Arguments are numbers of sites, with which dAD and gradient sharing run 20 steps
// each.
#include <fmt/format.h>
#include <malloc.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/batches.hpp"
#include "algorithms/leak/exchange_leak.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "models/data/generated.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kSteps = 360, kFewSteps = 20;

/// Five unequal sites with few classes each, as in scenarios/hospitals.xml.
struct Setting {
  models::Dataset data;
  models::Partition partition;
  spec::ModelSpec model;
  spec::TrainingSpec training;
  std::int64_t steps = kSteps;

  explicit Setting(std::int64_t width, std::size_t sites = 5, std::int64_t samples = 4000) {
    data.train = models::draw_digits(0, samples, 1);
    data.test = models::draw_digits(samples, 100, 1);
    data.shape = {28, 28, 1};
    data.classes = 10;
    const spec::SplitSpec split{.kind = spec::SplitSpec::Kind::dirichlet, .alpha = 0.5, .shards = 2, .sizes = {}};
    partition = split_over_sites(split, data.train, 10, sites, 1);
    model.layers = {spec::DenseSpec{width, spec::Activation::relu, true},
                    spec::DenseSpec{10, spec::Activation::identity, true}};
    training.batch = 32;
  }
};

/// Returns the processor seconds of learning.
double learn(const std::string& algorithm, const Setting& setting, bool observed) {
  const algorithms::SynchronousMethod& info = algorithms::algorithm_registry().at(algorithm);
  const spec::RunSpec run{algorithm, algorithm, spec::ExchangeMode::aggregator, default_parameters(info.parameters)};
  const algorithms::LearningProblem problem{setting.data, setting.partition, setting.model, setting.training, 1};
  algorithms::Batches batches(setting.training, setting.partition, 1);
  const std::unique_ptr<algorithms::Learners> learners = make_learners(run, problem, setting.steps);
  algorithms::ExchangeLeak meter(problem, *learners->networks().front(),
                                 {.has_aggregator = true, .steps = setting.steps});
  if (observed) learners->set_leak_meter(&meter);
  const std::clock_t start = std::clock();
  for (std::int64_t step = 0; step < setting.steps; ++step) learners->train(step, 0.05, batches.next());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void compare(const Setting& setting, const std::string& name, const std::vector<std::string>& methods) {
  for (const std::string& algorithm : methods) {
    std::array<double, 3> with{}, without{};
    for (std::size_t i = 0; i < with.size(); ++i) {
      without[i] = learn(algorithm, setting, false);
      with[i] = learn(algorithm, setting, true);
    }
    const double least = std::ranges::min(without), observed = std::ranges::min(with);
    fmt::print("{} {:17} {:7.0f} ms without, {:7.0f} with: {:+.1f} %  ({:.0f} {:.0f} {:.0f}; {:.0f} {:.0f} {:.0f})\n",
               name, algorithm, 1e3 * least, 1e3 * observed, 1e2 * (observed / least - 1), 1e3 * without[0],
               1e3 * without[1], 1e3 * without[2], 1e3 * with[0], 1e3 * with[1], 1e3 * with[2]);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace dadsim

int main(int argc, char** argv) {
  // Prevents the allocator from returning memory to the system and taking it back in every step, which would depend on
  // earlier peaks.
  constexpr int kNever = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TRIM_THRESHOLD, kNever);
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  for (int i = 1; i < argc; ++i) {
    const auto sites = std::strtoull(argv[i], nullptr, 10);
    dadsim::Setting setting(64, sites, static_cast<std::int64_t>(std::max(4000ULL, 8 * sites)));
    setting.training.batch = 4;
    setting.steps = dadsim::kFewSteps;
    dadsim::compare(setting, fmt::format("{} sites", sites), {"dad", "gradient-sharing"});
  }
  for (const std::int64_t width : {128, 512}) {
    if (argc > 1) break;
    dadsim::compare(dadsim::Setting(width), fmt::format("784-{}-10", width),
                    {"gradient-sharing", "dad", "edad", "rank-dad", "power-sgd", "top-k"});
  }
}
