#include "scenario/document/load.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <set>

#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

/// Loads a scenario with the elements `inside` and the platform of fake_catalog.hpp.
scenario::Scenario load(const TemporaryFolder& folder, const std::string& inside,
                        const std::vector<std::string>& overrides = {},
                        const scenario::Catalog& catalog = fake_catalog()) {
  folder.write("platform.xml", fake_platform());
  const std::string path = folder.write("scenario.xml", "<scenario name=\"Test\">" + inside + "</scenario>");
  return scenario::load_scenario(path, overrides, catalog);
}

const std::string kPlatform = R"(<platform file="platform.xml"/>)";
const std::string kWorkers = R"(<workers><worker hosts="site-1 site-2" device="rtx-3090"/></workers>)";
const std::string kStar =
    R"(<workers><worker hosts="site-1 site-2" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>)";
const std::string kData = "<data><digits/></data>";
const std::string kModel = R"(<model><dense units="16"/><dense units="10"/></model>)";
const std::string kRun = R"(<run algorithm="rank-dad"/>)";

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Load, FillsInEveryDefault) {
  const TemporaryFolder folder;
  const scenario::Scenario scenario = load(folder, kPlatform + kWorkers + kData + kModel + kRun);
  EXPECT_EQ(scenario.name, "Test");
  EXPECT_EQ(scenario.description, "");
  EXPECT_EQ(scenario.seed, 1U);
  const auto& platform = std::get<spec::PlatformFileSpec>(scenario.platform.what);
  EXPECT_EQ(platform.path, folder.path("platform.xml"));
  EXPECT_EQ(platform.transport, spec::Transport::plain);
  EXPECT_EQ(scenario.network.fidelity, spec::Fidelity::automatic);
  EXPECT_EQ(scenario.network.message_budget, 500'000);
  EXPECT_EQ(scenario.network.timed_steps, 0);
  EXPECT_FALSE(scenario.network.rendezvous);
  EXPECT_EQ(scenario.network.jitter, spec::JitterSpec{});
  EXPECT_TRUE(scenario.devices.empty());
  EXPECT_FALSE(scenario.aggregator);
  EXPECT_FALSE(scenario.timed_as);

  const auto& digits = std::get<spec::DigitsSource>(scenario.data.source);
  EXPECT_EQ(digits.train, 8000);
  EXPECT_EQ(digits.test, 2000);
  EXPECT_EQ(scenario.data.split.kind, spec::SplitSpec::Kind::iid);

  ASSERT_EQ(scenario.model.layers.size(), 2U);
  EXPECT_EQ(scenario.model.layers[0], spec::DenseSpec({16, spec::Activation::relu, true, false}));
  EXPECT_EQ(scenario.model.layers[1], spec::DenseSpec({10, spec::Activation::identity, true, false}));

  EXPECT_EQ(scenario.training.batch, 32);
  EXPECT_EQ(scenario.training.batches, spec::TrainingSpec::Batches::proportional);
  EXPECT_EQ(scenario.training.epochs, 10);
  EXPECT_EQ(scenario.training.target_accuracy, 0.95);
  EXPECT_EQ(scenario.training.stop, spec::TrainingSpec::Stop::budget);
  EXPECT_EQ(scenario.training.evaluate_every, 0);
  EXPECT_EQ(scenario.training.optimizer.kind, spec::OptimizerSpec::Kind::adam);
  EXPECT_EQ(scenario.training.optimizer.learning_rate, 1e-3);
  EXPECT_EQ(scenario.training.optimizer.weight_decay, 0);
  EXPECT_EQ(scenario.training.schedule.kind, spec::ScheduleSpec::Kind::constant);

  ASSERT_EQ(scenario.runs.size(), 1U);
  EXPECT_EQ(scenario.runs[0].label, "rank-dad");
  EXPECT_EQ(scenario.runs[0].exchange, spec::ExchangeMode::peer);
  const spec::ParameterValues expected = {
      {"cap", "8"}, {"iterations", "10"}, {"tolerance", "0.01"}, {"mode", "two-way"}};
  EXPECT_EQ(scenario.runs[0].parameters, expected);
  EXPECT_EQ(scenario.runs[0].all_reduce, "auto");
  EXPECT_EQ(scenario.runs[0].all_gather, "auto");
  EXPECT_EQ(scenario.runs[0].bucket_bytes, 0);
  EXPECT_EQ(scenario.runs[0].first_bucket_bytes, 1048576);
}

TEST(Load, ReadsEveryElementAndAttribute) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string path = folder.write("scenario.xml", R"(<?xml version="1.0"?>
<?xml-model href="scenario.xsd"?>
<scenario xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="scenario.xsd"
          name="All &amp; every&#38;thing &amp;#38;" seed="18446744073709551615">
  <run algorithm="rank-dad" label="a" exchange="peer" cap="4" iterations="3" tolerance="5e-2" mode="one-way"
       all-reduce="ring" all-gather="direct" bucket="25MB" first-bucket="2MB"/>
  <timed-as workload="bert-base" batch="4"/>
  <training batch="16" batches="equal" epochs="2.5" target-accuracy="0.9 0.85 0.97" stop="target" evaluate-every="7">
    <schedule kind="steps" warm-up-epochs="0.5" milestones="1 2" factor="0.2"/>
    <sgd learning-rate="0.05" momentum="0.9" nesterov="true" weight-decay="1e-4"/>
  </training>
  <model>
    <dense units="8" activation="gelu" bias="false"/>
    <dense units="10" activation="tanh" bias="true"/>
  </model>
  <data><split by="sizes" sizes="10 20 30"/><digits train="100" test="50"/></data>
  <workers>
    <aggregator host="hub" device="mine"/>
    <worker hosts="hospital-[1-2]" device="mine"/>
    <worker hosts="site-1" device="h100-sxm5"/>
  </workers>
  <device name="mine" description="a card" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4"
          memory-efficiency="0.7" launch-overhead="10us" step-time="32ms"/>
  <platform file="./x/../platform.xml" transport="tcp" description="a file">
    <background from="site-1" to="hub" bytes="1kB" every="2s"/>
  </platform>
  <network fidelity="flow" rendezvous="true"><jitter spatial="0.25" temporal="0.5"/></network>
  <description> Line one,
    line two. </description>
</scenario>
)");
  const scenario::Scenario scenario = load_scenario(path, {}, fake_catalog());
  EXPECT_EQ(scenario.name, "All & every&thing &#38;");
  EXPECT_EQ(scenario.description, "Line one,\n    line two.");
  EXPECT_EQ(scenario.seed, 18446744073709551615ULL);
  const auto& platform = std::get<spec::PlatformFileSpec>(scenario.platform.what);
  EXPECT_EQ(platform.path, folder.path("platform.xml"));
  EXPECT_EQ(platform.transport, spec::Transport::tcp);
  EXPECT_EQ(scenario.platform.description, "a file");
  ASSERT_EQ(scenario.platform.background.size(), 1U);
  EXPECT_EQ(scenario.platform.background[0].from, "site-1");
  EXPECT_EQ(scenario.platform.background[0].to, "hub");
  EXPECT_EQ(scenario.platform.background[0].bytes, 1000);
  EXPECT_EQ(scenario.platform.background[0].every, 2);
  EXPECT_EQ(scenario.network.fidelity, spec::Fidelity::flow);
  EXPECT_TRUE(scenario.network.rendezvous);
  EXPECT_EQ(scenario.network.jitter, (spec::JitterSpec{0.25, 0.5}));

  ASSERT_EQ(scenario.devices.size(), 1U);
  const spec::DeviceSpec& device = scenario.devices[0];
  EXPECT_EQ(device.name, "mine");
  EXPECT_EQ(device.description, "a card");
  EXPECT_DOUBLE_EQ(device.peak_flops, 1e13);
  EXPECT_DOUBLE_EQ(device.memory_bandwidth, 3e11);
  EXPECT_EQ(device.matrix_efficiency, 0.4);
  EXPECT_EQ(device.memory_efficiency, 0.7);
  EXPECT_DOUBLE_EQ(device.launch_overhead, 1e-5);
  EXPECT_DOUBLE_EQ(device.step_seconds, 0.032);
  EXPECT_EQ(device.source, "defined in the scenario");

  ASSERT_EQ(scenario.workers.size(), 3U);
  EXPECT_EQ(scenario.workers[1].host, "hospital-2");
  EXPECT_EQ(scenario.workers[1].device, "mine");
  EXPECT_EQ(scenario.workers[2].host, "site-1");
  EXPECT_EQ(scenario.workers[2].device, "h100-sxm5");
  ASSERT_TRUE(scenario.aggregator);
  EXPECT_EQ(scenario.aggregator->host, "hub");
  EXPECT_EQ(scenario.aggregator->device, "mine");

  EXPECT_EQ(std::get<spec::DigitsSource>(scenario.data.source).train, 100);
  EXPECT_EQ(scenario.data.split.kind, spec::SplitSpec::Kind::sizes);
  EXPECT_EQ(scenario.data.split.sizes, (std::vector<std::int64_t>{10, 20, 30}));
  EXPECT_EQ(scenario.model.layers[0], spec::DenseSpec({8, spec::Activation::gelu, false, false}));
  EXPECT_EQ(scenario.model.layers[1], spec::DenseSpec({10, spec::Activation::tanh, true, false}));

  const spec::TrainingSpec& training = scenario.training;
  EXPECT_EQ(training.batch, 16);
  EXPECT_EQ(training.batches, spec::TrainingSpec::Batches::equal);
  EXPECT_EQ(training.epochs, 2.5);
  EXPECT_EQ(training.target_accuracy, 0.9);
  EXPECT_EQ(training.further_targets, (std::vector<double>{0.85, 0.97}));
  EXPECT_EQ(training.last_target(), 0.97);
  EXPECT_EQ(training.stop, spec::TrainingSpec::Stop::target);
  EXPECT_EQ(training.evaluate_every, 7);
  EXPECT_EQ(training.optimizer.kind, spec::OptimizerSpec::Kind::sgd);
  EXPECT_EQ(training.optimizer.learning_rate, 0.05);
  EXPECT_EQ(training.optimizer.momentum, 0.9);
  EXPECT_TRUE(training.optimizer.nesterov);
  EXPECT_EQ(training.optimizer.weight_decay, 1e-4);
  EXPECT_EQ(training.schedule.kind, spec::ScheduleSpec::Kind::steps);
  EXPECT_EQ(training.schedule.warm_up_epochs, 0.5);
  EXPECT_EQ(training.schedule.milestones, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(training.schedule.factor, 0.2);

  ASSERT_TRUE(scenario.timed_as);
  EXPECT_EQ(scenario.timed_as->workload, "bert-base");
  EXPECT_EQ(scenario.timed_as->batch, 4);
  EXPECT_EQ(scenario.runs[0].label, "a");
  EXPECT_EQ(scenario.runs[0].exchange, spec::ExchangeMode::peer);
  const spec::ParameterValues parameters = {
      {"cap", "4"}, {"iterations", "3"}, {"tolerance", "0.05"}, {"mode", "one-way"}};
  EXPECT_EQ(scenario.runs[0].parameters, parameters);
  EXPECT_EQ(scenario.runs[0].all_reduce, "ring");
  EXPECT_EQ(scenario.runs[0].all_gather, "direct");
  EXPECT_EQ(scenario.runs[0].bucket_bytes, 25e6);
  EXPECT_EQ(scenario.runs[0].first_bucket_bytes, 2e6);
}

TEST(Load, ReadsWhatVariesOnADeclaredPlatform) {
  const TemporaryFolder folder;
  const scenario::Scenario scenario = load(folder, R"(<platform>
    <federation><sites name="site" count="2" up="1Mbps" down="1Mbps" latency="1ms"/></federation>
    <profile link="line *" of="latency" times="0s 60s" factors="1 0.5" period="2e2s"/></platform>)" +
                                                       kWorkers + kData + kModel + kRun);
  ASSERT_EQ(scenario.platform.profiles.size(), 1U);
  const spec::PlatformSpec::Profile& profile = scenario.platform.profiles[0];
  EXPECT_EQ(profile.link, "line *");
  EXPECT_EQ(profile.of, spec::PlatformSpec::Profile::Of::latency);
  EXPECT_EQ(profile.times, (std::vector<double>{0, 60}));
  EXPECT_EQ(profile.factors, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(profile.period, 200);
}

TEST(Load, DefaultsThatDependOnTheKind) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& training) {
    return load(folder, kPlatform + kStar + kData + kModel + kRun + training).training;
  };
  EXPECT_EQ(with("<training><sgd/></training>").optimizer.learning_rate, 0.1);
  EXPECT_EQ(with("<training><adamw/></training>").optimizer.weight_decay, 0.01);
  EXPECT_EQ(with("<training><adamw/></training>").optimizer.learning_rate, 1e-3);
  EXPECT_EQ(with("<training><adamw/></training>").optimizer.clip_norm, 0);
  const spec::OptimizerSpec lamb = with(R"(<training clip-norm="1.5"><lamb/></training>)").optimizer;
  EXPECT_EQ(lamb.kind, spec::OptimizerSpec::Kind::lamb);
  EXPECT_EQ(lamb.weight_decay, 0.01);
  EXPECT_EQ(lamb.epsilon, 1e-6);
  EXPECT_EQ(lamb.clip_norm, 1.5);
  const spec::OptimizerSpec muon = with(R"(<training><muon scale="rms" coefficients="tuned"/></training>)").optimizer;
  EXPECT_EQ(muon.kind, spec::OptimizerSpec::Kind::muon);
  EXPECT_EQ(muon.learning_rate, 0.02);
  EXPECT_EQ(muon.momentum, 0.95);
  EXPECT_TRUE(muon.nesterov);
  EXPECT_EQ(muon.adam_rate, 3e-4);
  EXPECT_EQ(muon.scale, spec::OptimizerSpec::MuonScale::rms);
  EXPECT_EQ(muon.coefficients, spec::OptimizerSpec::NewtonSchulz::tuned);
  const spec::OptimizerSpec lars = with(R"(<training><lars trust="0.02"/></training>)").optimizer;
  EXPECT_EQ(lars.kind, spec::OptimizerSpec::Kind::lars);
  EXPECT_EQ(lars.learning_rate, 1);
  EXPECT_EQ(lars.momentum, 0.9);
  EXPECT_EQ(lars.trust, 0.02);
  EXPECT_EQ(with(R"(<training><schedule kind="cosine" final-factor="0.1"/></training>)").schedule.final_factor, 0.1);
  const scenario::Scenario timed = load(
      folder, kPlatform + kStar + kData + kModel + kRun + R"(<training batch="8"/><timed-as workload="resnet-50"/>)");
  EXPECT_EQ(timed.timed_as->batch, 8);
  EXPECT_EQ(timed.runs[0].exchange, spec::ExchangeMode::aggregator);
}

TEST(Load, SizesOfAWorkloadAndHowItIsComputed) {
  const TemporaryFolder folder;
  const spec::TimedAsSpec timed =
      *load(folder, kPlatform + kStar + kData + kModel + kRun +
                        R"(<timed-as workload="bert" layers="24" sequence="0512" attention="flash-2" precision="fp16"
                            loss-scaling="true" input-rate="1250.5" program="eager" operator-time="40us"/>)")
           .timed_as;
  EXPECT_EQ(timed.sizes, (spec::ParameterValues{{"layers", "24"}, {"sequence", "512"}}));
  EXPECT_EQ(timed.attention, spec::Attention::flash_2);
  EXPECT_EQ(timed.program, spec::Program::eager);
  EXPECT_DOUBLE_EQ(timed.operator_seconds, 40e-6);
  EXPECT_EQ(timed.input_rate, 1250.5);
  EXPECT_TRUE(timed.loss_scaling);
}

TEST(Load, LabelsTellRunsApart) {
  const TemporaryFolder folder;
  const scenario::Scenario scenario = load(folder, kPlatform + kStar + kData + kModel + R"xml(
    <run algorithm="rank-dad"/>
    <run algorithm="rank-dad" cap="32"/>
    <run algorithm="rank-dad" cap="32" exchange="peer"/>
    <run algorithm="dad"/>
    <run algorithm="dad"/>
    <run algorithm="edad" label="dad (2)"/>
    <run algorithm="gradient-sharing" exchange="peer" all-reduce="ring" bucket="0"/>
    <run algorithm="gradient-sharing" exchange="peer" all-reduce="tree" all-gather="ring" bucket="25MB" first-bucket="2MB"/>
    <run algorithm="edad" exchange="peer" reduce-scatter="direct"/>)xml");
  std::vector<std::string> labels;
  for (const spec::RunSpec& run : scenario.runs) labels.push_back(run.label);
  const std::vector<std::string> expected = {
      "rank-dad, cap 8, aggregator",
      "rank-dad, cap 32, aggregator",
      "rank-dad, cap 32, peer",
      "dad",
      "dad (3)",
      "dad (2)",
      "gradient-sharing, all-reduce ring, all-gather auto, no buckets",
      "gradient-sharing, all-reduce tree, all-gather ring, buckets of 25 MB, the first of 2 MB",
      "edad, peer, reduce-scatter direct"};
  EXPECT_EQ(labels, expected);
}

// A generated label has the same maximum length as a given one.
TEST(Load, LabelsStayBelowTheirLimit) {
  const TemporaryFolder folder;
  std::string runs = R"xml(<run algorithm="rank-dad" tolerance="2.220446049250313e-16"/>)xml";
  runs += runs + R"xml(<run algorithm="rank-dad" cap="9" iterations="3" tolerance="1e-300" mode="one-way"
                           exchange="peer" all-reduce="tree" all-gather="ring" bucket="25MB"/>)xml";
  std::set<std::string> labels;
  for (const spec::RunSpec& run : load(folder, kPlatform + kStar + kData + kModel + runs).runs) {
    EXPECT_LE(run.label.size(), 100U) << run.label;
    EXPECT_TRUE(run.label.starts_with("rank-dad, cap ")) << run.label;
    labels.insert(run.label);
  }
  EXPECT_EQ(labels.size(), 3U);
}

TEST(Load, AsksForTheRoutesThatTheRunsUse) {
  const TemporaryFolder folder;
  scenario::Catalog::PlatformQuestion asked;
  scenario::Catalog catalog = fake_catalog();
  catalog.check_platform = [&](const scenario::Catalog::PlatformQuestion& question) {
    asked = question;
    return scenario::Catalog::PlatformAnswer{};
  };
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  const std::string workers =
      R"(<workers><worker hosts="site-[1-2] gpu-0" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>)";
  const auto pairs = [&](const std::string& runs) {
    load(folder, kPlatform + workers + kData + kModel + runs, {}, catalog);
    return asked.pairs;
  };
  const Pairs star = {{0, 3}, {1, 3}, {2, 3}};
  const Pairs ring = {{0, 1}, {1, 2}, {2, 0}};
  Pairs both = star;
  both.insert(both.end(), ring.begin(), ring.end());
  EXPECT_EQ(pairs(R"(<run algorithm="dad"/>)"), star);
  EXPECT_EQ(pairs(R"(<run algorithm="dad" exchange="peer"/>)"), ring);
  EXPECT_EQ(pairs(R"(<run algorithm="dad" exchange="peer"/><run algorithm="edad"/>)"), both);
  EXPECT_EQ(pairs(R"(<run algorithm="pooled"/>)"), Pairs{});
  EXPECT_EQ(asked.hosts, (std::vector<std::string>{"site-1", "site-2", "gpu-0", "hub"}));
}

TEST(Load, PassesOnWhatIsWrongWithThePlatform) {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform() + "<!-- no route site-2 hub -->");
  const std::string text =
      "<scenario name=\"Test\">\n" + kPlatform + "\n" + kStar + "\n" + kData + kModel + kRun + "</scenario>";
  const std::string path = folder.write("scenario.xml", text);
  EXPECT_EQ(message_of([&] { load_scenario(path, {}, fake_catalog()); }), path + ":3: no route site-2 hub; add one");
  const std::string platform = folder.write("platform.xml", "<platform/>");
  EXPECT_EQ(message_of([&] { load_scenario(path, {}, fake_catalog()); }),
            platform + ":1: no hosts; a SimGrid platform file");
}

class IdxData : public testing::Test {
 protected:
  void SetUp() override { unsetenv("DADSIM_DATA"); }
  void TearDown() override { unsetenv("DADSIM_DATA"); }

  spec::IdxSource load_idx(const std::string& attributes) {
    return std::get<spec::IdxSource>(
        load(folder_, kPlatform + kWorkers + "<data><idx " + attributes + "/></data>" + kModel + kRun).data.source);
  }
  std::string refused(const std::string& attributes) {
    return message_of([&] { load_idx(attributes); });
  }

  TemporaryFolder folder_;
  TemporaryFolder data_;
};

TEST_F(IdxData, TakesTestSamplesFromTheSameFiles) {
  folder_.write("a", "100 784 10");
  folder_.write("b", "");
  const spec::IdxSource idx = load_idx(R"(images="a" labels="b" train="80" test="20")");
  EXPECT_EQ(idx.images, folder_.path("a"));
  EXPECT_EQ(idx.test_images, "");
  EXPECT_EQ(idx.train, 80);
  EXPECT_EQ(idx.test, 20);
  EXPECT_EQ(refused(R"(images="a" labels="b" train="80" test="21")"),
            folder_.path("scenario.xml") +
                ":1: <idx> asks for 80 + 21 samples; reduce 'train' or 'test': the files hold 100 samples");
  EXPECT_EQ(refused(R"(images="a" labels="b" test="20")"),
            folder_.path("scenario.xml") + ":1: <idx> lacks 'train'; a whole number from 1 to 1000000000");
}

TEST_F(IdxData, TakesAllOfOwnTestFiles) {
  folder_.write("a", "100 784 10");
  folder_.write("b", "");
  folder_.write("c", "50 784 9");
  const spec::IdxSource idx = load_idx(R"(images="a" labels="b" test-images="c" test-labels="b")");
  EXPECT_EQ(idx.train, 100);
  EXPECT_EQ(idx.test, 50);
  EXPECT_EQ(load_idx(R"(images="a" labels="b" test-images="c" test-labels="b" train="70")").train, 70);
  EXPECT_EQ(
      refused(R"(images="a" labels="b" test-images="c" test-labels="b" test="51")"),
      folder_.path("scenario.xml") + ":1: test=\"51\" of <idx> is more than the files hold; the files hold 50 samples");
  folder_.write("c", "50 100 9");
  EXPECT_EQ(refused(R"(images="a" labels="b" test-images="c" test-labels="b")"),
            folder_.path("c") + ": other images; of the same size");
}

TEST_F(IdxData, ClassesComeFromTheLabels) {
  folder_.write("a", "100 784 12");
  folder_.write("b", "");
  EXPECT_EQ(refused(R"(images="a" labels="b" train="80" test="20")"),
            folder_.path("scenario.xml") +
                ":1: units=\"10\" of <dense> needs one unit per class in the last layer; set units=\"12\", one unit "
                "per class");
  const std::string broken = folder_.write("a", "broken");
  EXPECT_EQ(refused(R"(images="a" labels="b" train="80" test="20")"), broken + ": not an IDX file; magic number 2051");
}

TEST_F(IdxData, LooksBesideTheScenarioThenInTheDataFolder) {
  data_.write("a", "100 784 10");
  data_.write("sub/b.gz", "");
  EXPECT_NE(refused(R"(images="a" labels="sub/b" train="80" test="20")").find("DADSIM_DATA is not set"),
            std::string::npos);
  setenv("DADSIM_DATA", data_.path("").c_str(), 1);
  spec::IdxSource idx = load_idx(R"(images="a.gz" labels="sub/b" train="80" test="20")");
  EXPECT_EQ(idx.images, data_.path("a"));
  EXPECT_EQ(idx.labels, data_.path("sub/b.gz"));
  folder_.write("a.gz", "90 784 10");
  idx = load_idx(R"(images="a" labels="sub/b" train="80" test="10")");
  EXPECT_EQ(idx.images, folder_.path("a.gz"));
  EXPECT_EQ(refused(R"(images="a" labels="t10k-labels-idx1-ubyte.gz" train="80" test="10")"),
            folder_.path("scenario.xml") + ":1: labels=\"t10k-labels-idx1-ubyte.gz\" of <idx> is neither in '" +
                folder_.path("") + "' nor in '" + data_.path("") +
                "' (DADSIM_DATA); put the file into one of these folders; download it from "
                "http://yann.lecun.com/exdb/mnist/");
}

TEST(Hash, IsOfTheMeaningNotOfThePlace) {
  const TemporaryFolder here;
  const TemporaryFolder there;
  const std::string inside = kPlatform + kStar + kData + kModel + kRun;
  const std::uint64_t hash = load(here, inside).hash;
  EXPECT_EQ(load(there, inside).hash, hash);
  EXPECT_EQ(
      load(there, kRun + "<!-- other order -->" + kModel + kData + kStar + kPlatform + "<training batch='32'/>").hash,
      hash);
  EXPECT_EQ(load(there, inside, {"training.adam.learning-rate=0.001"}).hash, hash);
  EXPECT_NE(load(there, inside, {"training.adam.learning-rate=0.0010000000000000002"}).hash, hash);
  EXPECT_NE(load(there, inside, {"seed=2"}).hash, hash);
  EXPECT_NE(load(there, inside, {"run.cap=9"}).hash, hash);
}

TEST(Hash, ChangesWithTheFiles) {
  const TemporaryFolder folder;
  folder.write("a", "100 784 10");
  folder.write("b", "");
  const std::string inside =
      kPlatform + kStar + R"(<data><idx images="a" labels="b" train="80" test="20"/></data>)" + kModel + kRun;
  const std::uint64_t hash = load(folder, inside).hash;
  folder.write("b", "another label");
  const std::uint64_t other_data = load(folder, inside).hash;
  EXPECT_NE(other_data, hash);
  folder.write("platform.xml", fake_platform() + "<!-- changed -->");
  EXPECT_NE(load_scenario(folder.path("scenario.xml"), {}, fake_catalog()).hash, other_data);
}

// The file of fake_catalog.hpp has 1,000 samples of 4 values in 10 classes, at the sites north, south and west.
TEST(Load, SamplesGoToTheSitesThatTheySay) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", "1000 4 10");
  const auto data = [&](const std::string& split) {
    return "<data><csv file=\"t.csv\" target=\"risk\" site=\"where\" ignore=\"id, day of visit\"/>" + split + "</data>";
  };
  const std::string three = R"(<workers><worker hosts="site-1 site-2 hospital-1" device="rtx-3090"/></workers>)";
  const std::string rest = kModel + R"(<run algorithm="no-sharing"/>)";
  const scenario::Scenario scenario = load(folder, kPlatform + three + data("") + rest);
  const auto& source = std::get<spec::CsvSource>(scenario.data.source);
  EXPECT_EQ(source.file, table);
  EXPECT_EQ(source.site, "where");
  EXPECT_EQ(source.ignore, (std::vector<std::string>{"id", "day of visit"}));
  EXPECT_EQ(scenario.data.split.kind, spec::SplitSpec::Kind::by_site) << "without a split, as they say";
  const std::string printed = scenario::print_scenario(scenario);
  EXPECT_NE(printed.find("site=\"where\""), std::string::npos) << printed;
  EXPECT_NE(printed.find("ignore=\"id, day of visit\""), std::string::npos) << printed;
  EXPECT_NE(printed.find("by=\"site\""), std::string::npos) << printed;

  EXPECT_EQ(load(folder, kPlatform + three + data("<split by=\"iid\"/>") + rest).data.split.kind,
            spec::SplitSpec::Kind::iid)
      << "unless another is asked for";
  EXPECT_NE(
      message_of([&] {
        load(folder, kPlatform + kWorkers + data("") + rest);
      }).find("the data have 3 sites ('north', 'south', 'west'), but there are 2 workers; use one worker per site"),
      std::string::npos);
  folder.write("b.csv", "500 4 10");
  const scenario::Scenario files =
      load(folder, kPlatform + kWorkers + "<data><csv files=\"t.csv, b.csv\" target=\"risk\"/></data>" + rest);
  EXPECT_EQ(std::get<spec::CsvSource>(files.data.source).site_files,
            (std::vector<std::string>{table, folder.path("b.csv")}));
  EXPECT_NE(scenario::print_scenario(files).find("files=\"" + table + ", "), std::string::npos);
}

}  // namespace
}  // namespace dadsim::test
