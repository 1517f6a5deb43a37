// Tests the search for layouts: which divisions are even, the ranking by a closed form, and that no faster layout is
// missed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scenario/document/load.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "spec/workload.hpp"
#include "study/layout/candidates.hpp"
#include "study/layout/group_times.hpp"
#include "study/layout/search_layouts.hpp"
#include "study/planning/plan_scenario.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

/// Returns two nodes of three GPUs; the GPUs of a node share one slow adapter.
std::string scenario_text(const std::string& timed_as, const std::string& device = "v100-sxm2") {
  return fmt::format(
      R"(<scenario name="six" seed="1"><platform><gpu-cluster nodes="2" gpus="3" inside="nvlink-2" rails="1" nic="ib-edr">
         <one-switch/></gpu-cluster></platform>
         <workers><worker hosts="gpu-[0-5]" device="{}"/></workers><timing-only/>
         <training><adam learning-rate="1e-3"/></training>
         <timed-as workload="gpt" layers="6" hidden="768" heads="6" vocabulary="1000" sequence="256" precision="fp16" {}/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      device, timed_as);
}

spec::ModelShape small_gpt() {
  return spec::workload_registry().at("gpt").shape(
      {{"layers", "6"}, {"hidden", "768"}, {"heads", "6"}, {"vocabulary", "1000"}, {"sequence", "256"}});
}

TEST(Layouts, DivideEvenly) {
  LayoutSpace space{.devices = 6, .devices_per_node = 3, .global_batch = 12, .base = {}, .fixed = {}};
  const std::vector<report::Layout> layouts = layouts_of(small_gpt(), space);
  std::set<std::pair<int, int>> divisions;
  std::set<int> contexts, groups;
  std::set<spec::PipelineOrder> orders;
  for (const report::Layout& layout : layouts) {
    EXPECT_EQ(layout.replicas * layout.how.devices(), 6);
    EXPECT_EQ(layout.replicas * layout.batch, 12);
    EXPECT_EQ(layout.batch % layout.how.micro_batch, 0);
    EXPECT_TRUE(layout.how.order != spec::PipelineOrder::one_f_one_b || layout.how.interleave == 1 ||
                layout.batch / layout.how.micro_batch % layout.how.pipeline == 0);
    EXPECT_TRUE(layout.replicas > 1 || layout.how.sharding == spec::Sharding::none);
    EXPECT_TRUE(layout.how.sharding_group == 0 || layout.replicas % layout.how.sharding_group == 0);
    orders.insert(layout.how.order);
    contexts.insert(layout.how.context);
    groups.insert(layout.how.sharding_group);
    divisions.emplace(layout.how.tensor, layout.how.pipeline);
  }
  // Six blocks allow one, two, three or six stages. A layer is divided among the three devices of a node, or not at
  // all.
  EXPECT_EQ(divisions, (std::set<std::pair<int, int>>{{1, 1}, {1, 2}, {1, 3}, {1, 6}, {3, 1}, {3, 2}}));
  // Sequences are divided among at most two devices, and shards among the three devices of a node. Every schedule
  // occurs.
  EXPECT_EQ(contexts, (std::set<int>{1, 2}));
  EXPECT_EQ(groups, (std::set<int>{0, 3}));
  EXPECT_EQ(orders.size(), 4U);
  space.fixed = {{"tensor", "3"}, {"recompute", "none"}};
  for (const report::Layout& layout : layouts_of(small_gpt(), space)) {
    EXPECT_EQ(layout.how.tensor, 3);
    EXPECT_EQ(layout.how.recomputation, spec::Recomputation::none);
  }
  space.devices_per_node = 4;  // six heads cannot be divided among four devices
  space.devices = 4;
  space.fixed = {{"tensor", "4"}};
  EXPECT_TRUE(layouts_of(small_gpt(), space).empty());
}

TEST(Layouts, DivideExperts) {
  const spec::ModelShape shape = spec::workload_registry().at("decoder").shape({{"layers", "2"},
                                                                                {"hidden", "256"},
                                                                                {"heads", "4"},
                                                                                {"kv-heads", "4"},
                                                                                {"experts", "8"},
                                                                                {"expert-feed-forward", "128"},
                                                                                {"sequence", "128"}});
  const LayoutSpace space{.devices = 8, .devices_per_node = 4, .global_batch = 16, .base = {}, .fixed = {}};
  std::set<int> groups;
  for (const report::Layout& layout : layouts_of(shape, space)) {
    EXPECT_EQ(layout.how.experts > 1 ? layout.how.experts % layout.how.tensor : 0, 0);
    groups.insert(layout.how.experts);
  }
  EXPECT_EQ(groups, (std::set<int>{1, 2, 4, 8}));
}

TEST(Layouts, AreTakenOutOfAScenario) {
  const auto removed = [](const std::string& inside) {
    return scenario::ScenarioSource("some.xml", "<scenario>" + inside + "</scenario>").without_layout();
  };
  EXPECT_EQ(
      removed("<a tensor=\"2\"/><timed-as workload=\"x\"\n  tensor = '8' batch=\"3\" sharding=\"a>b\" layers=\"2\"/>"
              "<b tensor=\"1\"/>"),
      (std::vector<std::string>{"timed-as.tensor=", "timed-as.batch=", "timed-as.sharding="}));
  EXPECT_EQ(removed("<timed-as sequence-parallel=\"true\"/>"),
            (std::vector<std::string>{"timed-as.sequence-parallel="}));
  EXPECT_TRUE(removed("<timed-as workload=\"x\"/>").empty());
  EXPECT_TRUE(removed("").empty());
  EXPECT_TRUE(scenario::sets_layout("timed-as.micro-batch=4"));
  EXPECT_FALSE(scenario::sets_layout("timed-as.sequence=4"));
  EXPECT_FALSE(scenario::sets_layout("training.batch=4"));
}

TEST(Layouts, GroupsShareTheAdapters) {
  const scenario::ScenarioSource source("six.xml", scenario_text("batch=\"2\""));
  const scenario::Scenario scenario = source.load({}, make_catalog_without_learning());
  GroupTimes groups(cluster_of(scenario));
  constexpr double kBytes = 64e6;
  // Each of three groups of two has one device per node, so the groups share the adapters. A group inside a node uses
  // none.
  const double shared = groups.all_reduce(2, 3, kBytes);
  const double inside = groups.all_reduce(3, 1, kBytes);
  EXPECT_GT(shared, 3 * 2 * inside);
  EXPECT_GT(groups.all_reduce(2, 3, 4 * kBytes), 3 * shared);
  EXPECT_EQ(groups.all_reduce(1, 3, kBytes), 0);
}

TEST(Layouts, NothingQuickerIsLeftOut) {
  const scenario::ScenarioSource source("six.xml", scenario_text("batch=\"2\" sharding=\"optimizer\""));
  LayoutOptions options;
  options.fixed = {{"interleave", "1"}, {"recompute", "none"}, {"micro-batch", "2"}};
  options.simulated = 1000;
  const report::LayoutReport all = search_layouts(source, {}, options, false);
  options.simulated = 6;
  const report::LayoutReport few = search_layouts(source, {}, options, false);
  ASSERT_FALSE(all.trials.empty());
  ASSERT_LE(few.trials.size(), 7U);
  ASSERT_GT(all.trials.size(), 8U);
  EXPECT_LE(few.trials.front().simulated->step_seconds, 1.03 * all.trials.front().simulated->step_seconds);
  EXPECT_EQ(std::ranges::count_if(all.trials, &report::LayoutTrial::written), 1);
  for (const report::LayoutTrial& trial : all.trials)
    EXPECT_NEAR(trial.parts.total(), trial.simulated->step_seconds, 1e-9 * trial.parts.total());
  for (std::size_t i = 1; i < all.front.size(); ++i)
    EXPECT_LT(all.trials[all.front[i]].bytes, all.trials[all.front[i - 1]].bytes);
}

TEST(Layouts, AreThoseThatWereAskedFor) {
  const scenario::ScenarioSource source("six.xml", scenario_text("batch=\"2\" sharding=\"optimizer\""));
  const auto search = [&](std::vector<std::pair<std::string, std::string>> fixed) {
    LayoutOptions options;
    options.fixed = std::move(fixed);
    options.simulated = 2;
    return search_layouts(source, {}, options, false);
  };
  // The values include a number that the search would not try, attributes that it never varies, and another spelling of
  // 3.
  const std::vector<std::pair<std::string, std::string>> values{{"batch", "4"},
                                                                {"tensor", "03"},
                                                                {"pipeline", "6"},
                                                                {"context", "2"},
                                                                {"micro-batch", "1"},
                                                                {"interleave", "2"},
                                                                {"schedule", "gpipe"},
                                                                {"sharding", "none"},
                                                                {"recompute", "operations"},
                                                                {"sharding-group", "2"},
                                                                {"prefetch", "3"},
                                                                {"tensor-overlap", "products"},
                                                                {"sequence-parallel", "false"}};
  for (const auto& [name, value] : values) {
    const report::LayoutReport found = search({{name, value}});
    ASSERT_FALSE(found.trials.empty()) << name << ": " << report::as_paragraph(answer_of(found));
    const std::string set = fmt::format("timed-as.{}={}", name, value == "03" ? "3" : value);
    for (const report::LayoutTrial& trial : found.trials) {
      const std::vector<std::string>& all = trial.layout.set;
      const bool by_default = name == "sequence-parallel" || set == "timed-as.sharding=none" || name == "micro-batch";
      EXPECT_TRUE(by_default || std::ranges::find(all, set) != all.end())
          << set << " not in " << fmt::format("{}", fmt::join(all, " "));
      EXPECT_TRUE(name != "sharding" || trial.layout.how.sharding == spec::Sharding::none);
      EXPECT_TRUE(name != "micro-batch" || trial.layout.how.micro_batch == 1);
    }
  }
  // The scenario's own layout is ranked only if it has the fixed values; otherwise it is reported apart.
  const report::LayoutReport other = search({{"tensor", "3"}});
  ASSERT_EQ(other.unasked.size(), 1U);
  EXPECT_EQ(std::ranges::count_if(other.trials, &report::LayoutTrial::written), 0);
  const std::string said = report::as_paragraph(answer_of(other));
  EXPECT_NE(said.find(" with tensor=3: "), std::string::npos) << said;
  EXPECT_NE(said.find("The layout of the scenario is none of these; its step takes "), std::string::npos) << said;
  // The difference has an interval of its own, as errors that both steps share cancel.
  EXPECT_NE(said.find("nine of ten measured differences: "), std::string::npos) << said;
  const std::vector<report::Statement> answer = answer_of(other);
  const auto unasked = std::ranges::find(answer, "layout-unasked", &report::Statement::kind);
  ASSERT_NE(unasked, answer.end());
  EXPECT_LT(unasked->number("gap_low"), unasked->number("gap"));
  EXPECT_GT(unasked->number("gap_high"), unasked->number("gap"));
  EXPECT_TRUE(search({{"sharding", "optimizer"}}).unasked.empty());
}

TEST(Layouts, WhatCannotBeIsRefusedOrIsNoLayout) {
  const scenario::ScenarioSource source("six.xml", scenario_text("batch=\"2\""));
  LayoutOptions options;
  const std::vector<std::pair<std::string, std::string>> nonsense{
      {"tensor", "abc"}, {"tensor", "-1"},      {"tensor", ""},       {"tensor", "1.5"},         {"sharding", "zzz"},
      {"batch", "0"},    {"schedule", "1f1b "}, {"prefetch", "many"}, {"expert-imbalance", "0"}, {"recompute", "None"}};
  for (const auto& [name, value] : nonsense) {
    options.fixed = {{name, value}};
    try {
      search_layouts(source, {}, options, false);
      ADD_FAILURE() << name << '=' << value;
    } catch (const InputError& error) {
      ASSERT_EQ(error.diagnostics().size(), 1U);
      EXPECT_EQ(error.diagnostics()[0].file, fmt::format("--fix {}={}", name, value));
    }
  }
  options.fixed = {{"tensor", "x"}, {"pipeline", "y"}};  // both errors are reported together
  try {
    search_layouts(source, {}, options, false);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 2U);
  }
  for (const char* value : {"4", "5", "4096"}) {
    options.fixed = {{"tensor", value}};
    const report::LayoutReport none = search_layouts(source, {}, options, false);
    EXPECT_TRUE(none.trials.empty()) << value;
    const std::string said = report::as_paragraph(answer_of(none));
    EXPECT_TRUE(said.starts_with(fmt::format("No layout has tensor={} on 6 devices ", value))) << said;
  }
}

TEST(Layouts, AreSearchedByAPlan) {
  std::string text = scenario_text("batch=\"2\" tokens=\"10M\"");
  const std::string end = "</scenario>";
  const std::string goal = "<goal within=\"30d\"><allow layout=\"any\" global-batch=\"12\"/></goal>";
  text.replace(text.rfind(end), end.size(), goal + end);
  const report::PlanReport plan = plan_scenario(scenario::ScenarioSource("six.xml", text), {}, false);
  ASSERT_EQ(plan.answers.size(), 1U);
  const report::Trial& trial = plan.answers.front().trial;
  ASSERT_TRUE(trial.layout.has_value());
  EXPECT_EQ(trial.layout->replicas * trial.layout->batch, 12);
  EXPECT_NEAR(trial.batch, 12, 1e-9);
  // The layout of `plan` is as fast as the layout that a search finds at the same global batch.
  const scenario::ScenarioSource undivided("six.xml", scenario_text("batch=\"2\" tokens=\"10M\""));
  const report::LayoutReport found = search_layouts(undivided, {}, {}, false);
  EXPECT_NEAR(trial.throughput.value(), *found.trials.front().simulated->throughput->tokens,
              0.05 * trial.throughput.value());
}

TEST(Layouts, SayWhatIsMissing) {
  const scenario::ScenarioSource source("six.xml", scenario_text("batch=\"2\"", "k80"));
  LayoutOptions options;
  options.margin = 0.999;
  const report::LayoutReport report = search_layouts(source, {"timed-as.precision=fp32"}, options, false);
  EXPECT_TRUE(report.trials.empty());
  EXPECT_EQ(answer_of(report).front().kind, "no-layout");
  options.run = "nobody";
  EXPECT_THROW(search_layouts(source, {}, options, false), InputError);
}

}  // namespace
}  // namespace dadsim::study
