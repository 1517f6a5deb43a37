#include "scenario/language/overrides.hpp"

#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

class Overrides : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("platform.xml", fake_platform());
    path_ = folder_.write("scenario.xml", replaced(fixture(), "@PLATFORM@", "platform.xml"));
  }
  scenario::Scenario load(const std::vector<std::string>& overrides) const {
    return load_scenario(path_, overrides, fake_catalog());
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Overrides, SetAttributes) {
  EXPECT_EQ(load({"seed=9"}).seed, 9U);
  EXPECT_EQ(load({"name=a=b.c"}).name, "a=b.c");
  EXPECT_EQ(load({"training.batch=64"}).training.batch, 64);
  EXPECT_EQ(load({"training.adam.learning-rate=0.01"}).training.optimizer.learning_rate, 0.01);
  EXPECT_EQ(load({"workers.aggregator.host=site-1"}).aggregator->host, "site-1");
  EXPECT_EQ(load({"workers.worker.hosts=gpu-[0-3]"}).workers.size(), 4U);
  EXPECT_EQ(std::get<spec::DenseSpec>(load({"model.dense[1].units=64"}).model.layers[0].what).units, 64);
}

TEST_F(Overrides, ApplyInOrder) { EXPECT_EQ(load({"seed=3", "seed=4"}).seed, 4U); }

TEST_F(Overrides, MakeElementsThatAreNotThere) {
  EXPECT_EQ(load({"timed-as.workload=bert-base"}).timed_as->workload, "bert-base");
  const std::string bare =
      folder_.write("scenario.xml", replaced(edited({{"    <split by=\"dirichlet\" alpha=\"0.3\"/>\n", ""},
                                                     {"    <schedule kind=\"cosine\"/>\n", ""}}),
                                             "@PLATFORM@", "platform.xml"));
  const scenario::Scenario scenario = load_scenario(
      bare, {"data.split.by=shards", "data.split.shards=3", "training.schedule.warm-up-epochs=1"}, fake_catalog());
  EXPECT_EQ(scenario.data.split.kind, spec::SplitSpec::Kind::shards);
  EXPECT_EQ(scenario.data.split.shards, 3);
  EXPECT_EQ(scenario.training.schedule.warm_up_epochs, 1);
}

TEST_F(Overrides, ChooseAmongSeveral) {
  EXPECT_EQ(load({"run[3].cap=4"}).runs[2].parameters.at("cap"), "4");
  EXPECT_EQ(load({"run[rank-dad].cap=4"}).runs[2].parameters.at("cap"), "4");
  EXPECT_EQ(load({"run[2].exchange=peer"}).runs[1].exchange, spec::ExchangeMode::peer);
  EXPECT_EQ(load({"run[2].label=v1.0", "run[v1.0].exchange=peer"}).runs[1].exchange, spec::ExchangeMode::peer);
  EXPECT_EQ(load({"run[2].label=a=b", "run[a=b].exchange=peer"}).runs[1].exchange, spec::ExchangeMode::peer);
  EXPECT_EQ(std::get<spec::DenseSpec>(load({"model.dense[*].bias=false"}).model.layers[1].what).bias, false);
  EXPECT_EQ(load({"run[1].algorithm=edad", "run[*].exchange=peer"}).runs[0].exchange, spec::ExchangeMode::peer);
  EXPECT_EQ(load({"workers.worker[hospital-[1-5]].device=h100-sxm5"}).workers[0].device, "h100-sxm5");
}

// <run> also holds elements of these names.
TEST_F(Overrides, AttributesComeBeforeElementsOfTheirName) {
  EXPECT_EQ(load({"run[1].failures=none"}).runs[0].conditions.failures, spec::ConditionsSpec::Of::none);
  try {
    load({"run[1].share=0.5"});
    FAIL() << "the method has no such parameter";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("has no parameter 'share'"), std::string::npos) << error.what();
  }
  try {
    load({"run[1].compress=top-k"});
    FAIL() << "an element alone";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("<compress> is an element"), std::string::npos) << error.what();
  }
}

// A label has precedence over an algorithm with the same name.
TEST_F(Overrides, LabelComesFirst) {
  const scenario::Scenario scenario = load({"run[3].label=dad", "run[2].label=other", "run[dad].cap=5"});
  EXPECT_EQ(scenario.runs[2].parameters.at("cap"), "5");
}

TEST_F(Overrides, MayCorrectTheFile) {
  const std::string path =
      folder_.write("scenario.xml", replaced(edited({{"batch=\"16\"", "batch=\"x\""}}), "@PLATFORM@", "platform.xml"));
  EXPECT_THROW(scenario::load_scenario(path, {}, fake_catalog()), InputError);
  EXPECT_EQ(scenario::load_scenario(path, {"training.batch=8"}, fake_catalog()).training.batch, 8);
}

}  // namespace
}  // namespace dadsim::test
