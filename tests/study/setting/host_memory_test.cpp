#include <gtest/gtest.h>

#include <string>

#include "protocols/registry.hpp"
#include "study/setting/memory_check.hpp"
#include "support/memory_limit.hpp"

namespace dadsim::study {
namespace {

/// Provides 100,000 sites that train an MLP of 203,530 parameters with Adam.
struct HostMemory : testing::Test {
  HostMemory() {
    scenario.workers.resize(100'000);
    scenario.training.optimizer.kind = spec::OptimizerSpec::Kind::adam;
    scenario.training.batch = 1;
    scenario.model.layers.emplace_back(spec::DenseSpec{.units = 256});
    scenario.model.layers.emplace_back(spec::DenseSpec{.units = 10, .activation = spec::Activation::identity});
  }
  double needed(const std::string& algorithm) {
    spec::RunSpec run;
    run.algorithm = algorithm;
    return host_bytes_of(scenario, run, sample);
  }
  void add(const std::string& algorithm) {
    spec::RunSpec run;
    run.algorithm = run.label = algorithm;
    scenario.runs.push_back(run);
  }
  scenario::Scenario scenario;
  spec::SampleShape sample{.channels = 784};
};

TEST_F(HostMemory, IsOfEverySiteThatHasWeightsOfItsOwn) {
  const double all = 1e5 * 4 * 4 * 203'530;  // each site holds weights, gradient and two moments
  EXPECT_NEAR(needed("no-sharing"), all, 0.01 * all);
  EXPECT_LT(needed("gradient-sharing"), 1e-3 * all);
  EXPECT_LT(needed("pooled"), 1e-3 * all);
}

TEST_F(HostMemory, ThatIsNotThereIsRefusedWithTheFigure) {
  add("no-sharing");
  EXPECT_FALSE(fault_of_host_memory(scenario, sample, 400e9));
  const std::string fault = fault_of_host_memory(scenario, sample, 64e9).value().what;
  EXPECT_NE(fault.find("'no-sharing' needs at least 32"), std::string::npos) << fault;
  EXPECT_NE(fault.find("this machine has 64"), std::string::npos) << fault;
  scenario.runs.clear();
  add("dad");
  EXPECT_FALSE(fault_of_host_memory(scenario, sample, 64e6));
}

TEST_F(HostMemory, OfAnEventDrivenRunIsWhatItsClientsHold) {
  const double model = 4 * 203'530;
  scenario.workers.resize(1000);
  scenario.training.evaluate_every = 1;  // every step is evaluated, so no weights are kept for a later evaluation
  const auto models = [&](const std::string& algorithm, const spec::ParameterValues& parameters) {
    spec::RunSpec sharing;
    sharing.algorithm = "gradient-sharing";
    const double none = host_bytes_of(scenario, sharing, sample);
    spec::RunSpec run = methods::run_of(protocols::protocol_registry().at(algorithm), parameters);
    run.event_driven = true;
    return (host_bytes_of(scenario, run, sample) - none) / model;
  };
  // Each selected client holds a model to return, and a second one to which it adds what it receives.
  EXPECT_NEAR(models("fedavg", {{"rounds", "5"}, {"fraction", "0.1"}, {"deadline", "0"}}), 200, 1);
  EXPECT_NEAR(models("fedavg", {{"rounds", "5"}, {"fraction", "1"}, {"deadline", "0"}}), 2000, 1);
  EXPECT_NEAR(models("scaffold", {{"rounds", "5"}, {"fraction", "0.1"}, {"deadline", "0"}}), 300, 1);
  // With a deadline, the number of clients that take part is unknown.
  EXPECT_NEAR(models("fedavg", {{"rounds", "5"}, {"fraction", "0.1"}, {"deadline", "2"}}), 1, 0.1);
  // Each working client holds a version of the model. No more clients work than the run needs.
  EXPECT_NEAR(models("fedasync", {{"concurrency", "0"}, {"updates", "0"}}), 1000, 1);
  EXPECT_NEAR(models("fedasync", {{"concurrency", "50"}, {"updates", "0"}}), 50, 1);
  EXPECT_NEAR(models("fedbuff", {{"concurrency", "0"}, {"updates", "4"}, {"buffer", "10"}}), 40, 1);
  EXPECT_NEAR(models("local-sgd", {{"rounds", "5"}, {"period", "8"}}), 2000, 1);
  EXPECT_NEAR(models("ad-psgd", {{"updates", "5"}}), 1000, 1);
}

TEST_F(HostMemory, WeightsBetweenEpochsAreKeptWhereTargetsAreLookedFor) {
  const double model = 4 * 203'530;
  spec::RunSpec run;
  run.algorithm = "dad";
  const double with = host_bytes_of(scenario, run, sample);
  scenario.training.evaluate_every = 1;
  EXPECT_NEAR((with - host_bytes_of(scenario, run, sample)) / model, 15, 1e-6);
}

TEST_F(HostMemory, OfThisMachineIsKnown) { EXPECT_GT(memory_limit(), 1e6); }

}  // namespace
}  // namespace dadsim::study
