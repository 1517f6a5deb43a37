#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "scenario/fake_catalog.hpp"
#include "scenario/malformed_cases.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

class ScenarioFailures : public testing::Test {
 protected:
  static std::string text(const std::string& inside, const std::string& run = "<run algorithm=\"dad\"/>") {
    return R"(<scenario name="x" seed="7"><platform><federation>
<sites name="phone" count="3" up="10Mbps" down="10Mbps" latency="5ms" bandwidth-spread="0.5" latency-spread="0.25"/>
</federation></platform>
<workers><worker hosts="phone-[1-3]" device="v100-sxm2"/><aggregator host="hub" device="xeon-8380"/></workers>
<data><digits train="300" test="100"/></data><model><dense units="10"/></model>)" +
           run + "\n" + inside + "\n</scenario>\n";
  }
  scenario::Scenario read(const std::string& inside, const std::string& run = "<run algorithm=\"dad\"/>") const {
    return scenario::load_scenario(folder_.write("scenario.xml", text(inside, run)), {}, fake_catalog());
  }
  std::string complaints(const std::string& inside, const std::string& run = "<run algorithm=\"dad\"/>") const {
    try {
      read(inside, run);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  TemporaryFolder folder_;
};

TEST_F(ScenarioFailures, AreReadAndPrintedAsTheyAre) {
  folder_.write("times.txt", "# a comment\nphone-1 5s off\nphone-1 10s on\n\nphone-2 1s on\n");
  const scenario::Scenario scenario = read(R"(
<failures>
  <fails hosts="phone-*" mtbf="100s" mttr="5s" shape="0.7"/>
  <fails links="phone-* up" mtbf="50s" mttr="1s"/>
  <outage hosts="hub" from="20s" for="3s"/>
  <outage links="phone-1 *" from="0s"/>
  <joins hosts="phone-2" at="9s"/>
  <leaves hosts="phone-3" at="90s"/>
  <checkpoint every="60s" size="2MB" storage="8MBps" restore="3s"/>
</failures>
<availability hosts="phone-*" by="diurnal" from="70s" until="30s" spread="10s" period="100s" drop-out="0.1" returns="7s"/>
<availability hosts="phone-1" by="sessions" on="10s" off="20s" shape="0.5"/>
<availability hosts="*" by="file" file="times.txt"/>)",
                                           "<run algorithm=\"dad\" absent=\"restart\"/>");
  using Availability = spec::AvailabilitySpec;
  const spec::FailureSpec expected{
      .random = {{.match = "phone-*", .mean_up = 100, .shape = 0.7, .mean_down = 5},
                 {.links = true, .match = "phone-* up", .mean_up = 50, .mean_down = 1}},
      .outages = {{.match = "hub", .from = 20, .seconds = 3},
                  {.links = true, .match = "phone-1 *"},
                  {.match = "phone-2", .from = 0, .seconds = 9},
                  {.match = "phone-3", .from = 90}},
      .availability = {{.hosts = "phone-*",
                        .by = Availability::By::diurnal,
                        .from = 70,
                        .until = 30,
                        .spread = 10,
                        .period = 100,
                        .drop_out = 0.1,
                        .returns = 7},
                       {.hosts = "phone-1", .by = Availability::By::sessions, .on = 10, .off = 20, .shape = 0.5},
                       {.hosts = "*",
                        .by = Availability::By::file,
                        .file = folder_.path("times.txt"),
                        .changes = {{"phone-1", 5, false}, {"phone-1", 10, true}, {"phone-2", 1, true}}}},
      .checkpoints = {{.hosts = "*", .every = 60, .bytes = 2e6, .storage = 8e6, .restore = 3}}};
  EXPECT_TRUE(scenario.failures == expected);
  const auto& federation = std::get<spec::FederationSpec>(scenario.platform.what);
  EXPECT_EQ(federation.sites.front().bandwidth_spread, 0.5);
  EXPECT_EQ(federation.sites.front().latency_spread, 0.25);
  EXPECT_EQ(federation.seed, 7U);

  const std::string printed = scenario::print_scenario(scenario);
  const scenario::Scenario again = scenario::load_scenario(folder_.write("printed.xml", printed), {}, fake_catalog());
  EXPECT_TRUE(again.failures == expected);
  EXPECT_EQ(again.hash, scenario.hash);
  EXPECT_EQ(scenario::print_scenario(again), printed);
}

TEST_F(ScenarioFailures, OfNodesAndAgainAndAgain) {
  const scenario::Scenario scenario = read(R"(<failures>
  <fails nodes="phone-*" mtbf="900s" mttr="40s"/>
  <outage nodes="hub" from="20s" for="40s" every="900s"/>
  <outage hosts="phone-*" for="60s" every="800s" stagger="70s"/>
</failures>)");
  const spec::FailureSpec expected{.random = {{.nodes = true, .match = "phone-*", .mean_up = 900, .mean_down = 40}},
                                   .outages = {{.nodes = true, .match = "hub", .from = 20, .seconds = 40, .every = 900},
                                               {.match = "phone-*", .seconds = 60, .every = 800, .stagger = 70}}};
  EXPECT_TRUE(scenario.failures == expected);
  const std::string printed = scenario::print_scenario(scenario);
  EXPECT_TRUE(scenario::load_scenario(folder_.write("printed.xml", printed), {}, fake_catalog()).failures == expected);

  const auto refused = [&](const std::string& rule, const std::string& why) {
    const std::string said = complaints("<failures>" + rule + "</failures>");
    EXPECT_NE(said.find(why), std::string::npos) << said;
  };
  refused(R"(<outage nodes="node-7" for="9s"/>)", "nodes=\"node-7\" of <outage> matches no node with a worker");
  refused(R"(<outage nodes="hub" hosts="hub" for="9s"/>)", "cannot be combined with nodes; remove one of the two");
  refused(R"(<outage links="hub *" nodes="hub" for="9s"/>)", "cannot be combined with links; remove one of the two");
  refused(R"(<outage nodes="hub" every="1s"/>)", "needs 'for', the length of an outage; set for=\"4h\", or remove it");
  refused(R"(<outage nodes="hub" for="2s" every="1s"/>)", "is not longer than the outage; use a longer interval");
}

TEST_F(ScenarioFailures, ChangeTheHashOfTheScenarioAndNotThatOfWhatIsLearned) {
  const scenario::Scenario without = read("");
  const scenario::Scenario with = read(R"(<failures><leaves hosts="phone-3" at="1s"/></failures>)");
  EXPECT_NE(without.hash, with.hash);
  EXPECT_EQ(scenario::learning_hash_of(without, without.runs[0], without.training, 1),
            scenario::learning_hash_of(with, with.runs[0], with.training, 1));
}

TEST_F(ScenarioFailures, SpeedsAndSizesThatDifferAreReadAndPrinted) {
  const auto load = [&](const std::string& worker, const std::string& split) {
    std::string content = text("");
    const auto replace = [&](const std::string& from, const std::string& to) {
      content.replace(content.find(from), from.size(), to);
    };
    replace(R"(<worker hosts="phone-[1-3]" device="v100-sxm2"/>)", worker);
    replace("<digits train=\"300\" test=\"100\"/>", "<digits train=\"300\" test=\"100\"/>" + split);
    return scenario::load_scenario(folder_.write("scenario.xml", content), {}, fake_catalog());
  };
  const std::string plain = R"(<worker hosts="phone-[1-3]" device="v100-sxm2"/>)";
  const std::string spread = R"(<worker hosts="phone-[1-2]" device="v100-sxm2" speed-spread="0.5"/>
<worker hosts="phone-3" device="v100-sxm2"/>)";
  const scenario::Scenario base = load(plain, "");
  const scenario::Scenario slow = load(spread, R"(<split by="dirichlet" size-spread="1.5"/>)");
  EXPECT_EQ(slow.workers[1].speed_spread, 0.5);
  EXPECT_EQ(slow.workers[2].speed_spread, 0);
  EXPECT_EQ(slow.data.split.size_spread, 1.5);
  const std::string printed = scenario::print_scenario(slow);
  const scenario::Scenario again = scenario::load_scenario(folder_.write("printed.xml", printed), {}, fake_catalog());
  EXPECT_EQ(scenario::print_scenario(again), printed);
  EXPECT_EQ(again.workers[1].speed_spread, 0.5);
  EXPECT_EQ(again.data.split.size_spread, 1.5);

  // Speeds change times only, but sizes change what is learned.
  const auto learned = [](const scenario::Scenario& one) {
    return scenario::learning_hash_of(one, one.runs[0], one.training, 1);
  };
  const scenario::Scenario only_slow = load(spread, "");
  EXPECT_NE(only_slow.hash, base.hash);
  EXPECT_EQ(learned(only_slow), learned(base));
  EXPECT_NE(learned(load(plain, R"(<split size-exponent="1.2"/>)")), learned(base));
  EXPECT_EQ(load(plain, R"(<split size-exponent="1.2"/>)").data.split.size_exponent, 1.2);

  const auto words = [&](const std::string& worker, const std::string& split) -> std::string {
    try {
      load(worker, split);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(words(plain, R"(<split size-spread="1" size-exponent="1"/>)").find("cannot be combined with size-spread"),
            std::string::npos);
  EXPECT_NE(words(plain, R"(<split by="class" size-spread="1"/>)").find("has no effect with by=\"class\""),
            std::string::npos);
  EXPECT_NE(words(R"(<worker hosts="phone-1" device="v100-sxm2" speed-spread="4"/>)", "").find("speed-spread"),
            std::string::npos);
}

TEST_F(ScenarioFailures, FilesOfAvailabilityAreReadAsTheyArePublished) {
  using Change = spec::AvailabilitySpec::Change;
  const std::vector<Change> expected{{"phone-1", 54, false}, {"phone-1", 890, true}, {"phone-2", 10, true}};
  for (const char* file : {
           "phone-1 54 off\nphone-1 890 on\nphone-2 10 on\n",             // seconds without a unit
           "phone-1 54s off\r\nphone-1 890s on\r\nphone-2 10.0s on\r\n",  // seconds with a unit
           "# a trace\nphone-1,54,off\nphone-1,890,on # back\n\nphone-2,10,on\n",
           "\xef\xbb\xbfhost,time,state\nphone-1,54,down\nphone-1,890,up\nphone-2,10,up\n",
           "time,client,available\n54,phone-1,0\n890,phone-1,1\n10,phone-2,1\n",
           "Client_ID;Timestamp;Status\nphone-1;54;Unavailable\nphone-1;890;Available\nphone-2;10;Available\n",
           "phone-1\t54\tFALSE\nphone-1\t890\tTRUE\nphone-2\t10\tTrue\n",
           "phone-1, 54, offline\nphone-1, 890, online\nphone-2, 10, online\n",
           "\"phone-1\",\"54\",\"no\"\n\"phone-1\",\"890\",\"yes\"\n\"phone-2\",\"10\",\"yes\"\n",
           "phone-1 890 on\nphone-1 54 off\nphone-2 1e1 on\n",  // lines in any order
           "'phone-1' 54 off\nphone-1 890 on\nphone-2 10 on\n",
       }) {
    folder_.write("times.txt", file);
    const scenario::Scenario scenario = read(R"(<availability hosts="phone-*" by="file" file="times.txt"/>)");
    ASSERT_EQ(scenario.failures.availability.size(), 1U);
    EXPECT_TRUE(scenario.failures.availability[0].changes == expected) << file;
  }
}

// Without this check, a typo in a name would make its host always available.
TEST_F(ScenarioFailures, NamesInFilesOfAvailabilityAreThoseOfHosts) {
  const auto said = [&](const char* file) {
    folder_.write("times.txt", file);
    return complaints(R"(<availability hosts="phone-*" by="file" file="times.txt"/>)");
  };
  EXPECT_NE(said("phone-1 5 off\nphnoe-2 7 off\nphnoe-2 9 on\n")
                .find("times.txt:2: 'phnoe-2' hosts no worker or aggregator, but 'phone-2' needs a line; did you mean "
                      "'phone-2'?"),
            std::string::npos);
  // A trace may name hosts that the platform does not have.
  EXPECT_EQ(said("phone-1 5 off\nphone-2 7 off\nphone-3 9 off\nphone-4 1 on\nphone-9 1 on\n"), "accepted");
  EXPECT_EQ(said("phone-1 5 off\n"), "accepted") << "hosts without lines are always there";
  const std::string open = said("phone-1 5 10\n2026-11-05T10:00:00 phone-1 off\nphone-1 -5 off\nphone-1 5 min off\n");
  for (const char* line : {":1: ", ":2: ", ":3: ", ":4: "}) {
    EXPECT_NE(open.find("times.txt" + std::string(line)), std::string::npos) << open;
  }
}

TEST_F(ScenarioFailures, WhatIsWrongIsSaidAllAtOnce) {
  folder_.write("wrong.txt", "phone-1 5s off\nphone-1 5s on\nphone-1 6s perhaps\n");
  const std::string words = complaints(R"(
<failures>
  <fails hosts="phne-*" mtbf="0s" mttr="5s"/>
  <fails hosts="phone-*" links="x" mtbf="1s" mttr="5s"/>
  <outage/>
  <joins hosts="phone-1"/>
</failures>
<availability hosts="phone-*"/>
<availability hosts="phone-*" by="diurnal" from="5s" until="5s" on="3s"/>
<availability hosts="phone-*" by="sessions" on="3s" off="4s" returns="3s"/>
<availability hosts="phone-*" by="file" file="wrong.txt"/>)");
  for (const std::string part :
       {"hosts=\"phne-*\" of <fails> matches no host", "mtbf=\"0s\"", "cannot be combined with links",
        "<outage> lacks 'hosts'", "<joins> lacks 'at'", "<availability> lacks 'by' and 'drop-out'",
        "is the same time as 'from'", "on=\"3s\" of <availability> has no effect with by=\"diurnal\"", "needs drop-out",
        "wrong.txt:2: 'phone-1' is both on and off at 5 s (see line 1); keep one of the two lines",
        "wrong.txt:3: 'phone-1 6s perhaps' is no state of a host"}) {
    EXPECT_NE(words.find(part), std::string::npos) << part << "\nin\n" << words;
  }
}

TEST_F(ScenarioFailures, ARunLeavesThemOutOrHasItsOwn) {
  const std::string failures = R"(<failures><fails hosts="phone-*" mtbf="100s" mttr="5s"/></failures>
<availability hosts="phone-1" by="sessions" on="10s" off="20s"/>)";
  const scenario::Scenario scenario = read(failures, R"(<run algorithm="dad" failures="none"/>
<run algorithm="dad" availability="none" absent="retry" absent-patience="3s" absent-weights="unbiased"/>
<run algorithm="dad"><failures><leaves hosts="phone-2" at="7s"/></failures></run>
<run algorithm="dad" label="steps" absent="without"><availability hosts="phone-3" by="steps" chance="0.25"/></run>
<run algorithm="dad" label="all"/>)");
  const auto of = [&](std::size_t run) { return scenario.runs[run].conditions.failures_of(scenario.failures); };
  EXPECT_TRUE(of(0).random.empty());
  EXPECT_EQ(of(0).availability.size(), 1U);
  EXPECT_TRUE(of(1).availability.empty());
  EXPECT_EQ(of(1).random.size(), 1U);
  EXPECT_EQ(scenario.runs[1].absence.patience, 3);
  ASSERT_EQ(of(2).outages.size(), 1U);
  EXPECT_EQ(of(2).outages[0].from, 7);
  EXPECT_TRUE(of(2).random.empty());
  EXPECT_EQ(of(3).availability[0].chance, 0.25);
  EXPECT_TRUE(of(4) == scenario.failures);
  const std::string printed = scenario::print_scenario(scenario);
  const scenario::Scenario again = scenario::load_scenario(folder_.write("printed.xml", printed), {}, fake_catalog());
  EXPECT_EQ(scenario::print_scenario(again), printed);
  EXPECT_EQ(again.hash, scenario.hash);
  const auto learned = [&](std::size_t run) {
    return scenario::learning_hash_of(scenario, scenario.runs[run], scenario.training, 1);
  };
  EXPECT_EQ(learned(0), learned(4)) << "who waits learns the same";
}

TEST_F(ScenarioFailures, WhatMeansNothingBesideTheRestIsRefused) {
  const std::string fails = R"(<failures><fails hosts="phone-*" mtbf="100s" mttr="5s"/></failures>)";
  const struct {
    const char* run;
    std::string failures;
    const char* says;
  } cases[] = {
      {R"(<run algorithm="dad" failures="none"/>)", "", "the scenario has no <failures>"},
      {R"(<run algorithm="dad" availability="none"/>)", fails, "the scenario has no <availability>"},
      {R"(<run algorithm="dad" jitter="none"/>)", fails, "<network> has no <jitter>"},
      {R"(<run algorithm="dad" absent="without"/>)", "", "no site is ever absent in this run"},
      {R"(<run algorithm="dad" absent="restart"/>)", fails, "needs a checkpoint to restart from"},
      {R"(<run algorithm="dad" absent-patience="3s"/>)", fails, "needs absent=\"retry\""},
      {R"(<run algorithm="dad" absent-weights="unbiased"/>)", fails, "needs absent=\"without\" or \"retry\""},
      {R"(<run algorithm="pooled" absent="without"/>)", fails, "has no effect with 'pooled'"},
      {R"(<run algorithm="dad"/>)", R"(<availability hosts="phone-1" by="steps" chance="0.5"/>)",
       "needs a run that continues without absent sites"},
      {R"(<run algorithm="dad" absent="retry"/>)", R"(<availability hosts="phone-1" by="steps" chance="0.5"/>)",
       "needs outages at given times"},
      {R"(<run algorithm="dad"/>)", R"(<failures><checkpoint every="1s" size="1MB" storage="1GBps"/></failures>)",
       "no run restarts from a checkpoint"},
      {R"(<run algorithm="dad" failures="none"><failures><leaves hosts="phone-2" at="7s"/></failures></run>)", fails,
       "but also failures=\"none\""},
  };
  for (const auto& one : cases) {
    EXPECT_NE(complaints(one.failures, one.run).find(one.says), std::string::npos)
        << one.run << one.failures << ": " << complaints(one.failures, one.run);
  }
}

}  // namespace
}  // namespace dadsim::test
