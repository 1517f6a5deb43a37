// Tests scale studies of small networks, which learn quickly.
#include "study/scale_study/scale_study.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "report/scale_study/ladder_file.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/network_size.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::study {
namespace {

/// Returns a scenario of unequal sites that ends with the element `study`.
std::string family(const std::string& study, const std::string& timed_as = "") {
  return R"(<scenario name="family" seed="3">
  <platform><federation><sites name="site" count="3" up="50Mbps" down="100Mbps" latency="5ms"/></federation></platform>
  <workers>
    <worker hosts="site-[1-3]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data><digits train="400" test="100"/><split by="dirichlet" alpha="1" size-spread="0.5"/></data>
  <model><dense units="16" activation="relu"/><dense units="10"/></model>
  <training batch="8" epochs="12" target-accuracy="0.5" stop="target" seeds="2" evaluate-every="2">
    <adam learning-rate="5e-3"/>
  </training>
  )" + timed_as +
         R"(
  <run algorithm="gradient-sharing"/>
  <run algorithm="power-sgd" label="low rank" rank="1"/>
  <run algorithm="edad"/>
  <run algorithm="local-sgd" label="local" period="4"/>
  )" + study +
         "\n</scenario>\n";
}

class ScaleStudyTest : public testing::Test {
 protected:
  report::ScaleStudyReport study_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << text;
    return scale_study(scenario::ScenarioSource(path), overrides, false);
  }
  std::string error_of(const std::string& text) {
    try {
      study_of(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }
  test::TemporaryFolder folder_;
};

constexpr const char* kWidths = R"(<scale-study><vary path="model.dense[1].units" values="8 16 32 64"/></scale-study>)";

TEST_F(ScaleStudyTest, LearnsFitsAndPredictsTheLargest) {
  const report::ScaleStudyReport report = study_of(family(kWidths, R"(<timed-as workload="resnet-18" batch="32"/>)"));
  ASSERT_EQ(report.rungs.size(), 4U);
  ASSERT_EQ(report.runs.size(), 3U);
  EXPECT_EQ(report.rungs[1].size.parameters, 784 * 16 + 16 + 16 * 10 + 10);
  EXPECT_EQ(report.rungs[1].size.batch, 24);
  EXPECT_NEAR(report.rungs[1].size.rows_per_width, 400.0 / 17 * (800 + 26) / (784 * 16 + 16 * 10), 1e-9)
      << "17 steps of an epoch";
  EXPECT_FALSE(report.rungs[2].held_out);
  EXPECT_TRUE(report.rungs[3].held_out);
  EXPECT_TRUE(report.runs[1].as_many_by_definition) << "edAD";
  for (const std::size_t run : {0U, 2U}) {
    const report::StudiedRun& studied = report.runs[run];
    ASSERT_TRUE(studied.fit) << studied.label;
    EXPECT_EQ(studied.fit->rungs().size(), 4U);
    ASSERT_TRUE(studied.rungs[3].predicted) << studied.label;
    EXPECT_TRUE(studied.rungs[3].held.has_value());
    EXPECT_FALSE(studied.rungs[2].predicted);
    ASSERT_TRUE(studied.workload) << studied.label;
    EXPECT_GT(studied.workload->distance, 2) << "decades from 50,890 to 11,689,512 parameters";
    const auto width = [](const estimate::LadderPrediction& at) { return std::log(at.high / at.low); };
    EXPECT_GT(width(*studied.workload), width(studied.fit->at({4.0}, report.level)));
  }
  // Sending a single component per step costs additional steps.
  EXPECT_GT(report.runs[0].rungs[1].ratio.value().value, 1);
  const report::HeldOutCount count = held_out_of(report);
  EXPECT_EQ(count.cases, 2);
  const std::string words = summary_of(document_of(report), true).all();
  EXPECT_NE(words.find("of 2 predictions of the largest network, left out"), std::string::npos) << words;
}

// The prediction of a held-out rung does not use this rung.
TEST_F(ScaleStudyTest, ThePredictionIsThatOfTheOtherRungs) {
  const report::ScaleStudyReport report = study_of(family(kWidths));
  const report::StudiedRun& run = report.runs[0];
  std::vector<estimate::Rung> rungs = run.fit->rungs();
  rungs.pop_back();
  const estimate::LadderPrediction own = estimate::Ladder(rungs).at({std::log10(report.rungs[3].size.parameters)}, 0.9);
  EXPECT_DOUBLE_EQ(run.rungs[3].predicted->ratio, own.ratio);
  EXPECT_DOUBLE_EQ(run.rungs[3].predicted->high, own.high);
}

TEST_F(ScaleStudyTest, IsTheSameForAnyNumberOfThreads) {
  std::string one;
  {
    const ThreadLimit limit(1);
    one = to_json(document_of(study_of(family(kWidths))));
  }
  const ThreadLimit limit(4);
  EXPECT_EQ(to_json(document_of(study_of(family(kWidths)))), one);
}

TEST_F(ScaleStudyTest, ACriticalBatchIsThatOfGradientSharing) {
  const report::ScaleStudyReport report = study_of(family(
      R"(<scale-study against="parameters batch-per-critical" hold-out="0">
           <vary path="model.dense[1].units" values="8 32"/><vary path="training.batch" values="4 8 24"/></scale-study>)"));
  ASSERT_EQ(report.rungs.size(), 6U);
  EXPECT_EQ(report.rungs[0].size.critical_batch, report.rungs[1].size.critical_batch);
  EXPECT_NE(report.rungs[0].size.critical_batch, report.rungs[3].size.critical_batch);
  EXPECT_EQ(report.rungs[2].size.batch, 67) << "400 samples in six steps";
}

TEST_F(ScaleStudyTest, ATargetThatIsOutOfReachIsSaid) {
  const report::ScaleStudyReport report =
      study_of(family(kWidths), {"training.target-accuracy=0.99", "training.epochs=2"});
  EXPECT_FALSE(report.runs[0].fit);
  ASSERT_TRUE(report.runs[0].rungs[0].why_not);
  const std::string why = report::in_words(*report.runs[0].rungs[0].why_not);
  EXPECT_NE(why.find("gradient sharing did not reach"), std::string::npos) << why;
  EXPECT_NE(summary_of(document_of(report), false).all().find("0 rungs have relative steps"), std::string::npos);
}

TEST_F(ScaleStudyTest, WhatIsWrongIsSaidAtItsLine) {
  EXPECT_NE(error_of(family("")).find("<scenario> lacks <scale-study>"), std::string::npos);
  EXPECT_NE(error_of(family(R"(<scale-study><vary path="model.dense[1].units" values="8 16"/></scale-study>)"))
                .find("<scale-study> has 2 rungs, but at most 1 remain for the fit"),
            std::string::npos);
  EXPECT_NE(
      error_of(
          family(
              R"(<scale-study against="width"><vary path="model.dense[1].units" values="8 16 32 64"/></scale-study>)"))
          .find(R"(against="width" of <scale-study> is not a list of kinds of size)"),
      std::string::npos);
  EXPECT_NE(
      error_of(
          family(
              R"(<scale-study against="batch-per-critical"><vary path="model.dense[1].units" values="8 16 32 64"/></scale-study>)"))
          .find("to measure the critical batch"),
      std::string::npos);
  const std::string wrong =
      error_of(family(R"(<scale-study><vary path="model.dense[1].units" values="8 0 32 64"/></scale-study>)"));
  EXPECT_NE(wrong.find("scenario.xml:17: rung 2 (model.dense[1].units=0)"), std::string::npos) << wrong;
  EXPECT_NE(
      error_of(family(R"(<scale-study><vary path="training.sgd.momentum" values="0 0.1 0.2 0.3"/></scale-study>)")),
      "");
}

// Sizes that allow no fit, with or without held-out rungs, are refused before anything is learned.
TEST_F(ScaleStudyTest, SizesThatTellNothingAreRefusedBeforeAnythingIsLearned) {
  const auto refused = [&](const std::string& study, const std::string& words) {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << family(study);
    bool was_read = false;
    try {
      scale_study(scenario::ScenarioSource(path), {}, false, [&] { was_read = true; });
      FAIL() << study;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
    EXPECT_FALSE(was_read) << study;
  };
  refused(R"(<scale-study><vary path="run[low rank].rank" values="1 2 3 4"/></scale-study>)",
          "the sizes of <scale-study> allow no fit");
  refused(R"(<scale-study hold-out="0"><vary path="training.batch" values="4 8 16"/></scale-study>)",
          "the sizes of <scale-study> allow no fit");
  refused(
      R"(<scale-study><linked><vary path="model.dense[1].units" values="8 8 8 16"/><vary path="run[low rank].rank"
      values="1 2 3 4"/></linked></scale-study>)",
      "the sizes of <scale-study> without held-out rungs allow no fit");
  refused(
      R"(<scale-study against="parameters rows-per-width batch-per-critical" hold-out="0">
         <vary path="training.batch" values="4 6 8 12 16 24"/></scale-study>)",
      "the sizes of <scale-study> allow no fit");
}

// A study that has only event-driven runs compares them with gradient sharing, as it does for other runs.
TEST_F(ScaleStudyTest, OfEventDrivenRunsAlone) {
  for (const char* method : {"fedavg", "fedbuff", "async-sgd", "local-sgd"}) {
    std::string text = family(R"(<scale-study><vary path="model.dense[1].units" values="4 6 8 12"/></scale-study>)");
    const std::size_t begin = text.find("<run ");
    text.replace(begin, text.rfind("<scale-study") - begin, std::string("<run algorithm=\"") + method + "\"/>");
    const report::ScaleStudyReport report = study_of(text, {"training.target-accuracy=0.2", "training.epochs=3"});
    ASSERT_EQ(report.runs.size(), 1U) << method;
    for (const report::StudiedRung& rung : report.rungs) EXPECT_EQ(rung.gradient_sharing.size(), 2U) << method;
    for (const report::StudiedRatio& ratio : report.runs[0].rungs) {
      EXPECT_EQ(ratio.steps.size(), 2U) << method;
      EXPECT_TRUE(ratio.ratio || ratio.why_not) << method;
    }
  }
}

// The ratios are made up: a trend of 20 % per decade, and a run that fails from some size on.
TEST_F(ScaleStudyTest, AFileOfItTellsAnotherScenario) {
  const std::string path = folder_.path("scenario.xml");
  std::ofstream(path) << family(kWidths, R"(<timed-as workload="resnet-18" batch="32"/>)");
  const scenario::Scenario scenario = scenario::load_scenario(path, {}, make_catalog());
  report::ScaleStudyReport report;
  report.scenario_name = "made up";
  report.against = {spec::SizeKind::parameters};
  report.seeds = 3;
  report.workload = "resnet-18";
  report.workload_size = size_of_workload(scenario);
  report.runs.resize(2);
  report.runs[0].label = "low rank";
  report.runs[0].algorithm = "power-sgd";
  report.runs[1].label = "local";
  report.runs[1].algorithm = "local-sgd";
  for (const double parameters : {1e3, 1e4, 1e5, 1e6}) {
    report::StudiedRung rung;
    rung.size.parameters = parameters;
    report.rungs.push_back(rung);
    report::StudiedRatio at;
    at.ratio = estimate::Estimate{1 + 0.2 * (std::log10(parameters) - 3) + (parameters == 1e4 ? 0.001 : 0), {}, {}};
    report.runs[0].rungs.push_back(at);
    if (parameters > 5e5) {
      at.ratio.reset();
      at.more_than = 4;
    }
    report.runs[1].rungs.push_back(at);
  }
  fit_study(scenario, report);
  ASSERT_TRUE(report.runs[0].workload);
  EXPECT_TRUE(report.runs[0].fit->shows_trend());
  EXPECT_FALSE(report.runs[1].workload);
  ASSERT_TRUE(report.runs[1].why_no_workload);
  EXPECT_NE(report::in_words(*report.runs[1].why_no_workload).find("1,000,000 parameters"), std::string::npos);
  EXPECT_EQ(report.runs[1].rungs[3].held, false) << "more than 4 was not in the interval";

  const report::LadderFile file = report::parse_ladder(to_json(document_of(report)));
  ASSERT_NE(file.find("low rank"), nullptr);
  EXPECT_EQ(file.find("low rank")->rungs.size(), 4U);
  EXPECT_TRUE(file.find("local")->never);
  EXPECT_EQ(file.find("another"), nullptr);
  EXPECT_THROW(report::parse_ladder("{}"), std::runtime_error);

  const std::string ladder = folder_.path("ladder.json");
  std::ofstream(ladder) << to_json(document_of(report));
  std::ofstream(path) << family(
      "", R"(<timed-as workload="resnet-18" batch="32" steps="1000"/><ladder file="ladder.json"/>)");
  const report::Result result = run_experiment(scenario::load_scenario(path, {}, make_catalog()), false);
  const report::ScaleResult& low_rank = result.runs[1].at_scale.value();
  const estimate::LadderPrediction expected =
      report.runs[0].fit->at({std::log10(report.workload_size.parameters)}, 0.95);
  EXPECT_DOUBLE_EQ(low_rank.relative.ratio.value().value, expected.ratio);
  EXPECT_DOUBLE_EQ(low_rank.relative.ratio->high.value(), expected.high);
  ASSERT_TRUE(low_rank.ladder);
  EXPECT_TRUE(low_rank.ladder->trend);
  EXPECT_TRUE(low_rank.ladder->measured);
  EXPECT_DOUBLE_EQ(low_rank.time.value().value, 1000 * expected.ratio * result.runs[1].step_seconds);
  EXPECT_EQ(result.runs[0].at_scale->relative.ratio.value().value, 1);
  EXPECT_EQ(result.runs[2].at_scale->relative.ratio.value().value, 1) << "edAD needs as many by definition";
}

// A ladder does not apply to a run with the same label but another algorithm or other parameters.
TEST_F(ScaleStudyTest, ALadderIsOfTheSameAlgorithmAndParameters) {
  const std::string path = folder_.path("scenario.xml");
  const std::string timed = R"(<timed-as workload="resnet-18" batch="32" steps="1000"/>)";
  std::ofstream(folder_.path("ladder.json")) << to_json(document_of(study_of(family(
      R"(<scale-study><linked><vary path="model.dense[1].units" values="8 12 16 32"/><vary path="run[low rank].rank"
      values="1 1 1 2"/></linked></scale-study>)"))));
  const std::string studied = R"(algorithm="power-sgd" label="low rank" rank="1")";
  const auto why_of = [&](const std::vector<std::string>& overrides, const std::string& run = {}) -> std::string {
    std::string text = family("", timed + "<ladder file=\"ladder.json\"/>");
    if (!run.empty()) text.replace(text.find(studied), studied.size(), run);
    std::ofstream(path) << text;
    const report::Result result = run_experiment(scenario::load_scenario(path, overrides, make_catalog()), false);
    const report::ScaleResult& scale = result.runs[1].at_scale.value();
    return scale.relative.why_not ? report::in_words(*scale.relative.why_not) : "";
  };
  const std::string from_study = why_of({});
  EXPECT_EQ(from_study.find("the run of this label"), std::string::npos) << from_study;
  EXPECT_EQ(why_of({"run[low rank].rank=3"}), from_study) << "its rungs vary it";
  EXPECT_NE(why_of({"run[low rank].start=random"})
                .find("the run of this label in the scale study 'family' has start=warm, but here it has start=random"),
            std::string::npos);
  const std::string other = why_of({}, R"(algorithm="rank-dad" label="low rank")");
  EXPECT_NE(other.find("has power-sgd, but here it has rank-dad"), std::string::npos) << other;
}

TEST_F(ScaleStudyTest, AFileThatIsNoStudyIsRefused) {
  const std::string path = folder_.path("scenario.xml");
  std::ofstream(path) << family(
      "", R"(<timed-as workload="resnet-18" batch="32" steps="1000"/><ladder file="ladder.json"/>)");
  const auto refused = [&](const std::string& ladder, const std::string& words) {
    std::ofstream(folder_.path("ladder.json")) << ladder;
    try {
      scenario::load_scenario(path, {}, make_catalog());
      FAIL() << words;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("file=\"ladder.json\" of <ladder> " + words), std::string::npos)
          << error.what();
    }
  };
  refused("{}", "holds no scale study");
  // Returns three rungs, valid except for one number.
  const auto study = [](const char* of, const char* value) {
    nlohmann::json json = {
        {"scenario", {{"name", "made up"}}}, {"against", {"parameters"}},      {"target_accuracy", 0.5}, {"seeds", 2},
        {"rungs", nlohmann::json::array()},  {"runs", nlohmann::json::array()}};
    nlohmann::json run = {{"label", "low rank"}, {"algorithm", "power-sgd"}, {"as_many_by_definition", false}};
    for (int i = 0; i < 3; ++i) {
      json["rungs"].push_back({{"size",
                                {{"parameters", of == std::string("size") ? 1000.0 : 1000.0 * (i + 1)},
                                 {"rows_per_width", 1},
                                 {"batch", 8},
                                 {"critical_batch", nullptr}}}});
      run["rungs"].push_back({{"more_than", nullptr}, {"relative_steps", {{"value", 1.5}}}, {"seed_variance", 0.01}});
    }
    if (of == std::string("ratio")) run["rungs"][1]["relative_steps"]["value"] = nlohmann::json::parse(value);
    if (of == std::string("variance")) run["rungs"][1]["seed_variance"] = nlohmann::json::parse(value);
    if (of == std::string("rungs")) run["rungs"].erase(2);
    json["runs"].push_back(run);
    return json.dump();
  };
  for (const char* value : {"0", "-1", "-0.0"}) refused(study("ratio", value), "has relative steps of ");
  refused(study("ratio", "\"many\""), "holds no scale study");
  refused(study("variance", "-1"), "has a seed_variance of -1 for 'low rank'");
  refused(study("rungs", ""), "lacks rungs of 'low rank'");
  refused(study("size", ""), "has unusable rungs of 'low rank'");
  std::ofstream(folder_.path("ladder.json")) << study("", "");
  EXPECT_NO_THROW(scenario::load_scenario(path, {}, make_catalog()));
}

}  // namespace
}  // namespace dadsim::study
