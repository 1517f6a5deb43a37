// Tests how much messages of event-driven runs reveal (docs/leak.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using step::Adversary;

report::Result result_of_leaks(const std::string& runs, const std::vector<std::string>& overrides = {}) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("scenario.xml", test::tiny_scenario("", runs));
  return run_experiment(scenario::load_scenario(path, overrides, make_catalog()), false);
}

const step::AdversaryLeak* of(const report::RunResult& run, Adversary adversary) {
  for (const step::AdversaryLeak& one : run.leak.value().adversaries) {
    if (one.adversary == adversary) return &one;
  }
  return nullptr;
}

TEST(MessageLeak, AServerSeesWhatAClientLearned) {
  // Sites are unequal and take one local step of 16 samples, so that an update is the gradient of one batch.
  const report::Result result = result_of_leaks(
      R"(<run algorithm="fedavg" local-epochs="1" local-steps="1"/>
         <run algorithm="fedavg" local-epochs="1" local-steps="1" secure="yes" label="secure"/>
         <run algorithm="fedavg" local-epochs="1" label="epochs"/>)",
      {"training.leak-every=1", "data.split.by=dirichlet", "data.split.alpha=0.5"});
  const report::RunResult& plain = result.runs[0];
  const step::AdversaryLeak* aggregator = of(plain, Adversary::aggregator);
  ASSERT_NE(aggregator, nullptr);
  EXPECT_EQ(of(plain, Adversary::secure_aggregator), nullptr);
  EXPECT_EQ(aggregator->all.rows_handed_over, 0);
  // A step of Adam is not the gradient itself. Yet it explains a part of the batch, and more of it than of other
  // samples.
  EXPECT_GT(aggregator->all.span_in, aggregator->all.span_out);
  EXPECT_GT(aggregator->all.span_excess, 0.02);
  EXPECT_LE(aggregator->all.span_excess, 1);
  EXPECT_GT(aggregator->all.labels, 0.5);
  ASSERT_EQ(aggregator->sites.size(), 3U);
  ASSERT_FALSE(aggregator->curve.empty());
  EXPECT_GT(aggregator->curve.back().seconds, 0);

  const report::RunResult& secure = result.runs[1];
  EXPECT_EQ(of(secure, Adversary::aggregator), nullptr) << "masks hide what clients send";
  const step::AdversaryLeak* sum = of(secure, Adversary::secure_aggregator);
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->all.span_excess, of(secure, Adversary::site)->all.span_excess) << "the sum is the next model";
  EXPECT_LT(sum->all.span_excess, aggregator->all.span_excess);

  EXPECT_LT(of(result.runs[2], Adversary::aggregator)->all.span_excess, aggregator->all.span_excess)
      << "many steps on all samples say less of each";
}

TEST(MessageLeak, OfManyClientsASampleIsLookedAtAsFarAsTrainingPaysForIt) {
  const auto clients = [](std::size_t count, const std::string& more) {
    const test::TemporaryFolder folder;
    const std::string path = folder.write("many.xml", fmt::format(R"(<scenario name="many" seed="1">
  <platform><federation><sites name="c" count="{0}" up="10Mbps" down="50Mbps" latency="20ms"/></federation></platform>
  <workers><worker hosts="c-[1-{0}]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="{1}" test="20"/></data>
  <model><dense units="8"/><dense units="10"/></model>
  <training batch="3" epochs="2" {2}><sgd learning-rate="0.05"/></training>
  <run algorithm="fedavg" rounds="2" local-epochs="1"/>
  <run algorithm="fedavg" label="few" rounds="2" fraction="0.05" local-epochs="1"/>
</scenario>)",
                                                                  count, 3 * count, more));
    return run_experiment(scenario::load_scenario(path, {}, make_catalog()), false);
  };
  const report::Result many = clients(400, "");
  for (const report::RunResult& run : many.runs) {
    ASSERT_EQ(run.leak->sampled.size(), 64U) << run.spec.label;
    EXPECT_LT(run.leak->measured, 64) << run.spec.label << ": what a message costs counts";
    for (const Adversary adversary : {Adversary::aggregator, Adversary::site, Adversary::line}) {
      EXPECT_FALSE(std::isnan(of(run, adversary)->all.span_in)) << run.spec.label;
      EXPECT_EQ(of(run, adversary)->sites.size(), 64U) << run.spec.label;
    }
    EXPECT_EQ(std::ranges::count(run.notes, "leak-of-sample", &report::Statement::kind), 1) << run.spec.label;
  }
  EXPECT_GE(many.runs[0].leak->measured, clients(100, "").runs[0].leak->measured);
  const report::Result all = clients(70, "leak-every=\"1\"");
  // Every message is measured: in two rounds those of the 64 observed sites, and four models that are returned to sites
  // after training.
  EXPECT_EQ(all.runs[0].leak->measured, 2 * 64 + 4);
}

TEST(MessageLeak, EveryMethodIsMeasuredOrSaysWhyNot) {
  std::string runs;
  for (const char* name :
       {"fedavg", "fedprox", "fedopt", "fedbuff", "fedasync", "async-sgd", "local-sgd", "diloco", "streaming-diloco"}) {
    runs += std::string("<run algorithm=\"") + name + "\"/>\n";
  }
  const report::Result result = result_of_leaks(runs);
  for (const report::RunResult& run : result.runs) {
    ASSERT_TRUE(run.leak.has_value()) << run.spec.label;
    for (const step::AdversaryLeak& one : run.leak->adversaries) {
      const bool known = !std::isnan(one.all.span_excess);
      EXPECT_TRUE(known || one.why_not) << run.spec.label << ", " << spec::to_string(one.adversary);
    }
  }
}

TEST(MessageLeak, WhatIsLearnedIsTheSameHoweverOftenIsMeasured) {
  const std::string runs = "<run algorithm=\"fedavg\" local-epochs=\"1\"/>";
  const report::Result often = result_of_leaks(runs, {"training.leak-every=1"}), seldom = result_of_leaks(runs);
  ASSERT_EQ(often.runs[0].curve.size(), seldom.runs[0].curve.size());
  for (std::size_t i = 0; i < often.runs[0].curve.size(); ++i) {
    EXPECT_EQ(often.runs[0].curve[i].loss, seldom.runs[0].curve[i].loss);
    EXPECT_EQ(often.runs[0].curve[i].seconds, seldom.runs[0].curve[i].seconds);
  }
  EXPECT_EQ(often.runs[0].event_driven->learned, seldom.runs[0].event_driven->learned);
  EXPECT_GT(often.runs[0].leak->measured, seldom.runs[0].leak->measured);
}

TEST(MessageLeak, DadHandsEverySampleOver) {
  const report::Result result = result_of_leaks("<run algorithm=\"gradient-sharing\"/><run algorithm=\"dad\"/>");
  EXPECT_EQ(of(result.runs[0], Adversary::aggregator)->all.samples_handed_over, 0);
  for (const Adversary adversary : {Adversary::aggregator, Adversary::site, Adversary::line}) {
    EXPECT_EQ(of(result.runs[1], adversary)->all.samples_handed_over, 1);
    EXPECT_GT(of(result.runs[1], adversary)->curve.back().seconds, 0);
  }
}

}  // namespace
}  // namespace dadsim::study
