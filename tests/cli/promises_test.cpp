// Tests what the program guarantees about its files and about interrupts.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::run_dadsim;
using test::TemporaryFolder;

/// Returns a scenario of two clients with this content of <data>, <model> and <run>.
std::string scenario_of(const std::string& link, const std::string& data, const std::string& layers,
                        const std::string& batch, const std::string& runs) {
  return R"(<scenario name="promised" seed="1">
  <platform><federation><sites name="c" count="2" up=")" +
         link + "\" down=\"" + link + R"(" latency="10ms"/></federation></platform>
  <workers><worker hosts="c-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits )" +
         data + "/></data>\n  <model>" + layers + "<dense units=\"10\"/></model>\n  <training batch=\"" + batch +
         R"(" epochs="1"><sgd learning-rate="0.1"/></training>
  )" + runs +
         "\n</scenario>\n";
}

class Promises : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
    return name;
  }
  std::string content(const std::string& name) const { return test::read_file(folder_.path() / name); }
  bool is_there(const std::string& name) const { return std::filesystem::exists(folder_.path() / name); }

  TemporaryFolder folder_;
};

const std::string kSmall = R"(train="60" test="20")";

/// An export once protected only the first of its files from being overwritten.
TEST_F(Promises, AnExportOverwritesNoInputUnderAnyOfItsNames) {
  for (const char* name : {"k.0.et", "k.1.et", "k.2.et"}) {
    const std::string text = scenario_of("20Mbps", kSmall, "", "10", "<run algorithm=\"gradient-sharing\"/>");
    file(name, text);
    const Outcome outcome = run_dadsim({"export", name, "--chakra", "k"}, folder_.path());
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_NE(outcome.err.find("would overwrite"), std::string::npos) << outcome.err;
    EXPECT_EQ(content(name), text);
    std::filesystem::remove(folder_.path() / name);
  }
  file("one.xml", scenario_of("20Mbps", kSmall, "", "10", "<run algorithm=\"gradient-sharing\"/>"));
  const Outcome twice = run_dadsim({"export", "one.xml", "--chakra", "k", "--goal", "k.1.et"}, folder_.path());
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("--goal and --chakra both name 'k.1.et'"), std::string::npos) << twice.err;
  EXPECT_EQ(run_dadsim({"export", "one.xml", "--chakra", "k", "--goal", "k.goal"}, folder_.path()).exit_code, 0);
  EXPECT_TRUE(is_there("k.2.et"));
}

/// With a single slider, the fit once evaluated a point twice and reported an internal error.
TEST_F(Promises, RunsThatShareNothingHaveAPage) {
  file("alone.xml",
       scenario_of("20Mbps", kSmall, "", "10", R"(<run algorithm="pooled"/><run algorithm="no-sharing"/>)"));
  const Outcome outcome = run_dadsim({"alone.xml", "--report", "o.html"}, folder_.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("no sliders"), std::string::npos) << outcome.err;
  EXPECT_TRUE(content("o.html").ends_with("</html>\n"));
}

/// At 10 bit/s, dates once exceeded the simulation's resolution, which was reported as a deadlock. If the page cannot
/// be made, the result is still written.
TEST_F(Promises, APageThatFailsCostsNoResult) {
  file("slow.xml", scenario_of("10bps", kSmall, "<dense units=\"64\"/>", "10",
                               R"(<run algorithm="gradient-sharing"/><run algorithm="dad"/>)"));
  const Outcome slow = run_dadsim({"slow.xml", "--report", "o.html"}, folder_.path());
  EXPECT_EQ(slow.exit_code, 0) << slow.err;
  EXPECT_NE(slow.out.find("gradient-sharing"), std::string::npos);
  EXPECT_EQ(slow.err.find("deadlock"), std::string::npos) << slow.err;
  EXPECT_TRUE(content("o.html").ends_with("</html>\n"));
  // The page is written last, so if it fails, the other outputs exist.
  const Outcome full = run_dadsim({"slow.xml", "--json", "o.json", "--report", "/dev/full"}, folder_.path());
  EXPECT_EQ(full.exit_code, 4) << full.err;
  EXPECT_NE(full.out.find("gradient-sharing"), std::string::npos) << "the table was lost";
  EXPECT_TRUE(is_there("o.json"));
}

/// Interrupts a step of 10,000 samples, an evaluation of 60,000, and a simulation; not all of this code polls for
/// signals.
TEST_F(Promises, ASignalIsAnsweredWithinASecond) {
  const std::string wide = "<dense units=\"2048\"/><dense units=\"2048\"/>";
  file("step.xml",
       scenario_of("20Mbps", R"(train="20000" test="20")", wide, "10000", "<run algorithm=\"gradient-sharing\"/>"));
  file("evaluation.xml",
       scenario_of("20Mbps", R"(train="200" test="60000")", wide, "10", "<run algorithm=\"gradient-sharing\"/>"));
  file("played.xml", scenario_of("20Mbps", R"(train="20000" test="20")", wide, "10000", "<run algorithm=\"fedavg\"/>"));
  for (const char* name : {"step.xml", "evaluation.xml", "played.xml"}) {
    std::chrono::milliseconds before{400};
    Outcome outcome;
    std::chrono::steady_clock::duration took{};
    // On a busy machine the signal may arrive before the program has begun, and then ends it without a message. The
    // test then waits longer.
    for (int attempt = 0; attempt < 5 && outcome.err.empty(); ++attempt, before *= 2) {
      const auto begin = std::chrono::steady_clock::now();
      outcome = run_dadsim({name, "--json", "o.json"}, folder_.path(), before);
      took = std::chrono::steady_clock::now() - begin - before;
    }
    EXPECT_EQ(outcome.exit_code, 130) << name << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
    // The program needs about a second; on a busy machine it may be scheduled late.
    EXPECT_LT(took, std::chrono::seconds(10)) << name;
    EXPECT_FALSE(is_there("o.json"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3) << "something is left";
  }
}

}  // namespace
}  // namespace dadsim::cli
