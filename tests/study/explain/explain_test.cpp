#include "study/explain/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "report/explain/explanation.hpp"
#include "scenario/document/load.hpp"
#include "study/explain/changes.hpp"
#include "study/one_line.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using namespace test::one_line;  // NOLINT(google-build-using-namespace): its numbers

class Explain : public ::testing::Test {
 protected:
  Explain() {
    path_ = folder_.path("scenario.xml");
    std::ofstream(path_) << test::one_line::scenario();
    scenario_ = load_scenario(path_, {}, make_catalog());
    learned_ = learn_scenario(scenario_, nullptr, false);
    explanation_ = explain_scenario(scenario_, learned_, false);
  }

  const report::WhatIf& what_if(report::WhatIf::Kind kind, const std::string& on) const {
    const auto found = std::ranges::find_if(
        explanation_.what_ifs, [&](const report::WhatIf& one) { return one.kind == kind && one.on == on; });
    if (found == explanation_.what_ifs.end()) throw std::runtime_error("no such what-if");
    return *found;
  }

  /// Returns the scenario with an override, learned and timed from scratch.
  report::RunResult fresh(const std::string& override_text) const {
    return run_experiment(load_scenario(path_, {override_text}, make_catalog()), false).runs.front();
  }

  test::TemporaryFolder folder_;
  std::string path_;
  scenario::Scenario scenario_;
  Learned learned_;
  report::Explanation explanation_;
};

TEST_F(Explain, TheCriticalPathIsTheStep) {
  const report::RunResult& run = explanation_.result.runs.front();
  double sum = 0;
  for (const step::Bound& bound : run.bounds) sum += bound.seconds;
  EXPECT_NEAR(sum, run.step_seconds, 1e-9);
  const double step = computing + 2 * latency + bytes / up + bytes / down;
  EXPECT_NEAR(run.step_seconds, step, 1e-4 * step);
}

TEST_F(Explain, ChangesAreAsIfTheScenarioHadThem) {
  // The two values are equal to the last bit, since the simulation gets the same numbers.
  const report::Effect& line = what_if(report::WhatIf::Kind::bandwidth, "site-# up").effects.front();
  EXPECT_EQ(line.target_seconds, fresh("platform.federation.sites.up=20Mbps").target_seconds);
  EXPECT_EQ(line.step_seconds, fresh("platform.federation.sites.up=20Mbps").step_seconds);
  const report::Effect& latencies = what_if(report::WhatIf::Kind::latency, "*").effects.front();
  EXPECT_EQ(latencies.target_seconds, fresh("platform.federation.sites.latency=2.5ms").target_seconds);
  const report::Effect& device = what_if(report::WhatIf::Kind::device, "worker").effects.front();
  EXPECT_NEAR(*device.target_seconds, fresh("device[worker].step-time=5ms").target_seconds, 1e-4);
}

TEST_F(Explain, WhatIsSavedIsWhatTheFormulaSaysAndComesInItsOrder) {
  const double step = computing + 2 * latency + bytes / up + bytes / down;
  const report::WhatIf& line = what_if(report::WhatIf::Kind::bandwidth, "site-# up");
  EXPECT_NEAR(saving_of(explanation_, 0, line), bytes / up / 2 / step, 1e-3);
  EXPECT_NEAR(saving_of(explanation_, 0, what_if(report::WhatIf::Kind::latency, "*")), latency / step, 1e-3);
  EXPECT_NEAR(saving_of(explanation_, 0, what_if(report::WhatIf::Kind::device, "worker")), computing / 2 / step, 1e-3);
  const std::vector<const report::WhatIf*> best = most_useful(explanation_, 0, 3);
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0], &line);
  EXPECT_GE(saving_of(explanation_, 0, *best[0]), saving_of(explanation_, 0, *best[1]));
  EXPECT_GE(saving_of(explanation_, 0, *best[1]), saving_of(explanation_, 0, *best[2]));
}

TEST_F(Explain, ALargerBatchIsPromisedFewerStepsAndNoAdvice) {
  const report::WhatIf& batch = explanation_.what_ifs[static_cast<std::size_t>(
      std::ranges::find(explanation_.what_ifs, report::WhatIf::Kind::batch, &report::WhatIf::kind) -
      explanation_.what_ifs.begin())];
  EXPECT_EQ(batch.factor, 2);
  EXPECT_EQ(batch.assumption, report::Statement{"steps-by-batch"}.with("factor", 2.0));
  for (const report::WhatIf* best : most_useful(explanation_, 0, 100)) {
    EXPECT_NE(best->kind, report::WhatIf::Kind::batch);
    EXPECT_NE(best->kind, report::WhatIf::Kind::limit);
  }
}

TEST_F(Explain, LimitsBoundWhatCanBeHad) {
  double network = 0;
  double devices = 0;
  for (const report::WhatIf& one : explanation_.what_ifs) {
    if (one.kind != report::WhatIf::Kind::limit) continue;
    (one.change.kind == "network-without-limits" ? network : devices) = saving_of(explanation_, 0, one);
  }
  const double step = computing + 2 * latency + bytes / up + bytes / down;
  EXPECT_NEAR(network, 1 - computing / step, 1e-3);
  EXPECT_NEAR(devices, computing / step, 1e-3);
}

TEST_F(Explain, TableAndJsonSayTheSame) {
  const std::string table = to_table(document_of(explanation_));
  EXPECT_NE(table.find("Most useful"), std::string::npos);
  EXPECT_NE(table.find("twice the bandwidth of site-1 up (10 Mbit/s, 5.00 ms)"), std::string::npos) << table;
  const auto json = nlohmann::json::parse(to_json(document_of(explanation_)));
  EXPECT_EQ(json["runs"][0]["what_if"].size(), explanation_.what_ifs.size());
  const auto& run = json["runs"][0];
  const auto& change = run["what_if"].at(run["most_useful"][0].get<std::size_t>())["change"];
  EXPECT_EQ(change["words"], "twice the bandwidth of site-1 up (10 Mbit/s, 5.00 ms)");
  EXPECT_EQ(change["kind"], "more-bandwidth");
  EXPECT_EQ(change["values"]["bandwidth_low"], 1.25e6);
}

/// What-ifs are timed on a sample of the steps. The answer states this, and savings equal those over all steps.
TEST(ExplainOnASample, SavesWhatAllStepsSave) {
  test::TemporaryFolder folder;
  const std::string path = folder.path("scenario.xml");
  std::string text = test::one_line::scenario();
  text.replace(text.find("algorithm=\"gradient-sharing\""), 28, "algorithm=\"rank-dad\" cap=\"16\"");
  text.replace(text.find("count=\"1\""), 9, "count=\"3\"");
  text.replace(text.find("hosts=\"site-1\""), 14, "hosts=\"site-[1-3]\"");
  text.replace(text.find("<model>"), 7, "<model><dense units=\"32\" activation=\"relu\"/>");
  std::ofstream(path) << text;
  const auto explain = [&](const std::vector<std::string>& overrides) {
    const scenario::Scenario scenario = load_scenario(path, overrides, make_catalog());
    return explain_scenario(scenario, learn_scenario(scenario, nullptr, false), false);
  };
  const report::Explanation sample = explain({});
  const auto sampled = [](const report::Explanation& one) {
    return std::ranges::find(one.notes, "sampled-changes", &report::Statement::kind) != one.notes.end();
  };
  EXPECT_TRUE(sampled(sample));
  EXPECT_EQ(sample.notes.front().number("steps"), 16);
  EXPECT_EQ(sample.notes.front().subjects, std::vector<std::string>{sample.result.runs.front().spec.label});
  const report::Explanation all = explain({"network.timed-steps=1000000"});
  EXPECT_FALSE(sampled(all));
  EXPECT_EQ(sample.result.runs.front().step_seconds, all.result.runs.front().step_seconds);
  ASSERT_EQ(sample.what_ifs.size(), all.what_ifs.size());
  for (std::size_t i = 0; i < all.what_ifs.size(); ++i) {
    EXPECT_NEAR(saving_of(sample, 0, sample.what_ifs[i]), saving_of(all, 0, all.what_ifs[i]), 0.002)
        << report::in_words(all.what_ifs[i].change);
  }
}

/// Collectives of event-driven runs are timed apart from messages. Their links are varied like those of messages.
TEST(ExplainAmongPeers, NamesTheOneSlowLine) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("peers.xml", R"(<scenario name="peers" seed="1">
  <platform>
    <federation>
      <sites name="site" count="2" up="1Gbps" down="1Gbps" latency="5ms" transport="plain"/>
      <sites name="slow" count="1" up="10Mbps" down="1Gbps" latency="5ms" transport="plain"/>
    </federation>
  </platform>
  <workers><worker hosts="site-[1-2] slow-1" device="xeon-8380"/></workers>
  <data><digits train="96" test="10"/></data>
  <model><dense units="30"/><dense units="10"/></model>
  <training batch="8" epochs="2"><sgd learning-rate="0.1"/></training>
  <run algorithm="diloco" period="4" rounds="3" to="peers" all-reduce="ring"/>
</scenario>
)");
  const scenario::Scenario scenario = load_scenario(path, {}, make_catalog());
  const report::Explanation explanation = explain_scenario(scenario, learn_scenario(scenario, nullptr, false), false);
  const report::RunResult& run = explanation.result.runs.front();
  ASSERT_FALSE(run.network.link_use.empty());
  const step::LinkUse& busiest = run.network.link_use.front();
  EXPECT_EQ(busiest.link, "slow-1 up");
  const double numbers = 785 * 30 + 31 * 10;
  EXPECT_NEAR(busiest.bytes_per_step * static_cast<double>(run.steps), 3 * 2 * 2. / 3 * 4 * numbers, 1)
      << "2 (n - 1) / n d, three times";
  EXPECT_NEAR(busiest.busy_share * run.total_seconds, 3 * 2 * 2. / 3 * 4 * numbers / (10e6 / 8), 1e-6);
  const std::vector<const report::WhatIf*> best = most_useful(explanation, 0, 3);
  ASSERT_FALSE(best.empty());
  EXPECT_EQ(best.front()->kind, report::WhatIf::Kind::bandwidth);
  EXPECT_EQ(best.front()->on, "slow-# up");
  const report::RunResult twice =
      run_experiment(load_scenario(path, {"platform.federation.sites[2].up=20Mbps"}, make_catalog()), false)
          .runs.front();
  EXPECT_EQ(best.front()->effects.front().step_seconds, twice.step_seconds);
  EXPECT_LT(twice.step_seconds, 0.6 * run.step_seconds);
}

TEST(Change, SpeedsUpEveryPrecisionOfADevice) {
  spec::DeviceSpec device;
  device.peak_flops = device.tf32_flops = device.fp16_flops = device.bf16_flops = 1e12;
  device.fp8_flops = device.fp4_flops = 2e12;
  spec::DeviceSpec twice = device;
  speed_up(twice, 2);
  for (const spec::Precision precision : spec::kPrecisions)
    EXPECT_EQ(twice.peak(precision), 2 * device.peak(precision)) << to_string(precision);
}

TEST(Change, OfAPlatformIsAsIfItHadBeenBuiltSo) {
  const test::TemporaryFolder folder;
  const auto seconds_with = [&](const std::string& line, const std::string& change) {
    std::string text = test::one_line::scenario();
    const std::string old = R"(up="10Mbps" down="1Gbps" latency="5ms" transport="plain"/></federation>)";
    const std::size_t at = text.find(old);
    if (at == std::string::npos) throw std::logic_error("differs from the scenario");
    text.replace(at, old.size(), line + R"( transport="plain"/></federation>)" + change);
    const std::string path = folder.write("changed.xml", text);
    return run_experiment(load_scenario(path, {}, make_catalog()), false).runs.front().total_seconds;
  };
  const double built = seconds_with(R"(up="40Mbps" down="1Gbps" latency="2.5ms")", "");
  EXPECT_EQ(seconds_with(R"(up="10Mbps" down="1Gbps" latency="5ms")",
                         R"(<change link="site-* up" bandwidth-factor="4"/><change link="*" latency-factor="0.5"/>)"),
            built);
  EXPECT_THROW(seconds_with(R"(up="10Mbps" down="1Gbps" latency="5ms")", R"(<change link="nowhere"/>)"), InputError);
}

}  // namespace
}  // namespace dadsim::study
