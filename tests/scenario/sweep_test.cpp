#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "scenario/same.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

class SweepElement : public testing::Test {
 protected:
  void SetUp() override { folder_.write("platform.xml", fake_platform()); }

  std::string with(const std::string& sweep) const {
    const std::string text = replaced(replaced(fixture(), "@PLATFORM@", "platform.xml"), "</scenario>", "");
    return folder_.write("scenario.xml", text + "\n" + sweep + "\n</scenario>\n");
  }
  scenario::Scenario load(const std::string& sweep) const { return load_scenario(with(sweep), {}, fake_catalog()); }
  /// Returns all errors without path and line.
  std::string errors(const std::string& sweep) const {
    try {
      load(sweep);
    } catch (const InputError& error) {
      std::string text;
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        EXPECT_GT(diagnostic.line, 20);
        text += (text.empty() ? "" : "\n") + to_string({"", 0, diagnostic.what, diagnostic.remedy});
      }
      return text;
    }
    return "none";
  }

  TemporaryFolder folder_;
};

TEST_F(SweepElement, IsRead) {
  const scenario::Scenario scenario = load(R"(<sweep method="latin-hypercube" points="200" seed="9" seeds="5">
    <vary path="run[*].exchange" values="peer aggregator"/>
    <linked>
      <vary path="training.batch" from="1" to="16" scale="log" whole="true"/>
      <vary path="training.epochs" from="1" to="2.5"/>
    </linked>
    <vary path="workers.worker.hosts" values="2 4" form="hospital-[1-{}]"/>
    <vary path="run[2].label" values="one label; another;"/>
    <vary path="run[2].bucket" values="1 2" unit="MB"/>
  </sweep>)");
  ASSERT_TRUE(scenario.sweep);
  const spec::SweepSpec& sweep = *scenario.sweep;
  EXPECT_EQ(sweep.method, spec::SweepSpec::Method::latin_hypercube);
  EXPECT_EQ(sweep.points, 200);
  EXPECT_EQ(sweep.seed, 9U);
  EXPECT_EQ(sweep.seeds, 5);
  ASSERT_EQ(sweep.axes.size(), 5U);
  EXPECT_EQ(sweep.axes[0].at(0).values, (std::vector<std::string>{"peer", "aggregator"}));
  ASSERT_EQ(sweep.axes[1].size(), 2U);
  EXPECT_TRUE(sweep.axes[1][0].logarithmic);
  EXPECT_TRUE(sweep.axes[1][0].whole);
  EXPECT_EQ(sweep.axes[1][1].to, 2.5);
  EXPECT_EQ(sweep.axes[2][0].at(1), "hospital-[1-4]");
  EXPECT_EQ(sweep.axes[3][0].values, (std::vector<std::string>{"one label", "another"}));
  EXPECT_EQ(sweep.axes[4][0].at(0), "1MB");
}

TEST_F(SweepElement, ComesBackFromPrint) {
  for (
      const char* sweep :
      {R"(<sweep><vary path="training.batch" values="8 16"/></sweep>)",
       R"(<sweep method="list"><linked><vary path="training.batch" values="4 8 16"/>
           <vary path="run[1].label" values="a b; ;c"/></linked><vary path="seed" from="1" to="3" steps="3"/></sweep>)",
       R"(<sweep method="random" points="3"><vary path="run[2].bucket" from="1e-3" to="0.1" scale="log" unit="MB"/></sweep>)",
       R"(<sweep><vary path="run[1].label" values="only one;"/></sweep>)"}) {
    const scenario::Scenario scenario = load(sweep);
    const scenario::Scenario again =
        load_scenario(folder_.write("printed.xml", print_scenario(scenario)), {}, fake_catalog());
    EXPECT_TRUE(Same::same(scenario, again)) << scenario::print_scenario(scenario);
    EXPECT_TRUE(again.sweep);
  }
}

TEST_F(SweepElement, IsNoPartOfTheHashAndOfPoints) {
  const scenario::Scenario without = load("");
  const std::string path = with(R"(<sweep><vary path="training.batch" values="8 16"/></sweep>)");
  const scenario::Scenario scenario = load_scenario(path, {}, fake_catalog());
  EXPECT_EQ(scenario.hash, without.hash);
  const scenario::ScenarioSource source(path);
  const scenario::Scenario point = source.load_point({"training.batch=8", "sweep.method=list"}, fake_catalog());
  EXPECT_FALSE(point.sweep);
  EXPECT_EQ(point.training.batch, 8);
  EXPECT_EQ(point.hash, load_scenario(path, {"training.batch=8"}, fake_catalog()).hash);
}

TEST_F(SweepElement, EveryMistakeHasItsOwnWords) {
  const auto vary = [&](const std::string& attributes, const std::string& of_sweep = "") {
    return errors("<sweep" + of_sweep + "><vary " + attributes + "/></sweep>");
  };
  EXPECT_EQ(errors("<sweep/>"),
            "<sweep> lacks <vary>; add a <vary>, e.g. <vary path=\"training.batch\" values=\"16 32 64\"/>");
  EXPECT_EQ(errors(R"(<sweep><linked><vary path="seed" values="1 2"/></linked></sweep>)"),
            "<linked> has fewer than two <vary>; add the values that vary together");
  EXPECT_EQ(vary(R"(values="1 2")"), "<vary> lacks 'path'; a path as in --set, e.g. training.batch");
  EXPECT_EQ(vary(R"(path="training." values="1 2")"),
            "path=\"training.\" of <vary> is not a path; use names with dots between them and selectors in "
            "brackets, as in --set, e.g. run[2].cap");
  EXPECT_EQ(vary(R"(path="sweep.seeds" values="1 2")"),
            "path=\"sweep.seeds\" of <vary> belongs to the sweep itself; use a path of the scenario");
  EXPECT_EQ(vary(R"(path="seed" values="1 2")", R"( seeds="3")"),
            "path=\"seed\" of <vary> cannot be combined with seeds=\"3\"; remove one of the two");
  EXPECT_EQ(errors(R"(<sweep><vary path="seed" values="1 2"/><vary path="seed" values="3 4"/></sweep>)"),
            "path=\"seed\" of <vary> is varied already; use each path once");
  EXPECT_EQ(vary(R"(path="seed")"),
            "<vary> lacks 'values'; add values=\"16 32 64\", or from=\"1\" to=\"64\" with steps=\"7\"");
  EXPECT_EQ(vary(R"(path="seed" values=" ")"), "values=\" \" of <vary> is empty; list values with spaces between them");
  EXPECT_EQ(vary(R"(path="seed" values="1 2 1")"), "values=\"1 2 1\" of <vary> holds '1' twice; use each value once");
  EXPECT_EQ(vary(R"(path="seed" values="1 2" from="3")"),
            "from=\"3\" of <vary> cannot be combined with values=\"…\"; give a list of values, or a range");
  EXPECT_EQ(vary(R"(path="seed" from="1" to="2")"), "<vary> lacks 'steps'; a whole number from 2 to 1000000");
  EXPECT_EQ(vary(R"(path="seed" from="1" steps="2")"),
            "<vary> lacks 'to'; a number from -9007199254740992 to 9007199254740992");
  EXPECT_EQ(vary(R"(path="seed" from="2" to="2" steps="2")"),
            "to=\"2\" of <vary> is equal to 'from'; use another number, or a single value in values=\"…\"");
  EXPECT_EQ(vary(R"(path="seed" from="0" to="2" steps="2" scale="log")"),
            "from=\"0\" of <vary> is out of range; a number above 0, at most 9007199254740992");
  EXPECT_EQ(vary(R"(path="seed" from="1" to="3" steps="9" whole="true")"),
            "steps=\"9\" of <vary> repeats '1' in its range; fewer steps");
  EXPECT_EQ(vary(R"(path="seed" from="1" to="3" steps="2" scale="loog")"),
            "scale=\"loog\" of <vary> is unknown; did you mean 'log'?");
  EXPECT_EQ(vary(R"(path="seed" from="1" to="3" steps="2")", R"( method="random" points="4")"),
            "steps=\"2\" of <vary> has no effect with method=\"random\"; remove it: one number per point is drawn from "
            "the range");
  EXPECT_EQ(vary(R"(path="seed" values="1 2" form="x")"),
            "form=\"x\" of <vary> does not hold {} once; write {} once in place of the value, e.g. site-[1-{}]");
  EXPECT_EQ(vary(R"(path="seed" values="1 2" form="{}" unit="s")"),
            "form=\"{}\" of <vary> cannot be combined with unit=\"…\"; remove it: form=\"{}Mbps\" is the same as "
            "unit=\"Mbps\"");
  EXPECT_EQ(vary(R"(path="seed" values="1 2")", R"( method="griid")"),
            "method=\"griid\" of <sweep> is unknown; did you mean 'grid'?");
  EXPECT_EQ(vary(R"(path="seed" values="1 2")", R"( points="4" seed="1")"),
            "points=\"4\" of <sweep> has no effect with method=\"grid\"; remove it: the varied values give the number "
            "of points\n"
            "seed=\"1\" of <sweep> has no effect with method=\"grid\"; remove it: nothing is drawn, and points use the "
            "seeds of the scenario");
  EXPECT_EQ(vary(R"(path="seed" values="1 2")", R"( method="random")"),
            "<sweep> lacks 'points'; a whole number from 1 to 1000000");
  EXPECT_EQ(errors(R"(<sweep><linked><vary path="seed" values="1 2"/>
              <vary path="training.batch" values="1 2 3"/></linked></sweep>)"),
            "<linked> has 3 values of 'training.batch' and 2 of 'seed'; give the same number "
            "of values for each");
  EXPECT_EQ(errors(R"(<sweep method="list"><vary path="seed" values="1 2"/>
              <vary path="training.batch" values="1 2 3"/></sweep>)"),
            "method=\"list\" needs the same number of values on each axis, not 2, 3; give the same number of values on "
            "each axis, or use method=\"grid\"");
  EXPECT_EQ(errors(R"(<sweep seeds="1000"><vary path="training.batch" from="1" to="2000" steps="2000"/></sweep>)"),
            "<sweep> has 2000 points with 1000 seeds each; at most 1000000 altogether");
  EXPECT_EQ(errors(R"(<sweep><vary path="seed" from="1" to="1000" steps="1000"/>
              <vary path="training.batch" from="1" to="1001" steps="1001"/></sweep>)"),
            "<sweep> has 1000 × 1001 points; use at most 1000000; method=\"latin-hypercube\" covers many axes with few "
            "points");
}

}  // namespace
}  // namespace dadsim::test
