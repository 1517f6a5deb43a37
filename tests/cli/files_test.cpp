// Tests outputs that are also inputs or other outputs, files that cannot be written, and output to a terminal.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/chakra_bytes.hpp"
#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::read_file;

constexpr const char* kPlatform = R"(<cluster-platform><gpu-cluster name="g" nodes="2" gpus="2">
  <inside link="nvlink3"/><network kind="switch" link="100gbe"/></gpu-cluster></cluster-platform>)";

std::string flowers(const std::string& platform) {
  return R"(<scenario name="flowers">
  <platform file=")" +
         platform + R"("/>
  <workers><worker hosts="a b" device="xeon-8380"/></workers>
  <data><csv file="flowers.csv" target="kind" test="12"/><split by="iid"/></data>
  <model><dense units="2"/></model>
  <training epochs="1" batch="4"><adam learning-rate="1e-2"/></training>
  <run algorithm="gradient-sharing"/>
</scenario>)";
}

constexpr const char* kTwoHosts = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1Gbps" latency="1ms" bandwidth_file="rates.txt"/>
<route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>
)";

class Files : public testing::Test {
 protected:
  void SetUp() override {
    write("two.xml", kTwoHosts);
    write("rates.txt", "1.0 125000000\n");
    write("own.xml", flowers("two.xml"));
    std::string rows = "width,height,kind\n";
    for (int i = 0; i < 60; ++i)
      rows += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + (i % 2 == 0 ? "rose" : "lily") + "\n";
    write("flowers.csv", rows);
    write("steps.csv", "workload,batch,time\nresnet-50,128,398/s\n");
    for (const char* rank : {"t.0.et", "t.1.et"})
      write(rank, test::ChakraBytes().compute(1, "a", 0.1).sum(2, "s", 4096).bytes());
    fs::create_symlink("t.1.et", folder_.path() / "trace.xml");
    fs::create_hard_link(folder_.path() / "t.1.et", folder_.path() / "hard-trace.xml");
    write("joined.xml", R"(<cluster-platform><gpu-cluster name="g" nodes="2" gpus="2" inside="nvlink-3" nic="ib-hdr"/>
      </cluster-platform>)");
    write("job.xml", R"(<scenario name="job"><platform file="joined.xml"/><workers><worker hosts="g.gpu-*"
      device="a100-sxm4-80"/></workers><timed-as workload="resnet-50" batch="8"/><timing-only/>
      <run algorithm="gradient-sharing"/></scenario>)");
    write("jobs.csv", "scenario,time\njob.xml,300ms\n");
    fs::create_symlink("own.xml", folder_.path() / "link.xml");
    fs::create_hard_link(folder_.path() / "own.xml", folder_.path() / "hard.xml");
    fs::create_symlink("later.json", folder_.path() / "dangling.json");
  }
  void write(const std::string& name, const std::string& content) { std::ofstream(folder_.path() / name) << content; }
  Outcome run(const std::vector<std::string>& arguments) const { return test::run_dadsim(arguments, folder_.path()); }
  std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      all[entry.path().filename()] = read_file(entry.path());
    return all;
  }
  test::TemporaryFolder folder_;
};

// Files are compared by identity, not by path, and outputs are also compared with inputs.
TEST_F(Files, NoOutputIsAnInput) {
  const auto before = content();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"own.xml", "--json", "own.xml"}, "would overwrite the scenario"},
      {{"own.xml", "--json", "./own.xml"}, "would overwrite the scenario"},
      {{"own.xml", "--csv", "link.xml"}, "would overwrite the scenario"},
      {{"link.xml", "--report", "own.xml"}, "would overwrite the scenario"},
      {{"own.xml", "--trace", "hard.xml"}, "would overwrite the scenario"},
      {{"own.xml", "--json", "two.xml"}, "which is read"},
      {{"own.xml", "--json", "flowers.csv"}, "which is read"},
      {{"own.xml", "--json", "rates.txt"}, "which is read"},
      {{"explain", "own.xml", "--json", "flowers.csv"}, "which is read"},
      {{"explain", "own.xml", "--report", "own.xml"}, "would overwrite the scenario"},
      {{"explain", "own.xml", "--report", "two.xml"}, "which is read"},
      {{"explain", "own.xml", "--json", "why", "--report", "./why"}, "both name"},
      {{"plan", "own.xml", "--json", "link.xml"}, "would overwrite the scenario"},
      {{"platform", "two.xml", "--dot", "./two.xml"}, "would overwrite the platform"},
      {{"platform", "two.xml", "--routes", "rates.txt"}, "which is read"},
      {{"collective", "--platform", "two.xml", "--op", "all-reduce", "--json", "rates.txt"}, "which is read"},
      {{"collective", "--platform", "two.xml", "--op", "all-reduce", "--csv", "two.xml"}, "the platform"},
      {{"calibrate", "steps.csv", "--device", "mine", "--like", "v100-pcie", "--out", "./steps.csv"},
       "would overwrite the measurements"},
      {{"sweep", "own.xml", "--out", "hard.xml"}, "would overwrite the scenario"},
      {{"sweep", "own.xml", "--out", "q.sqlite", "--csv", "./q.sqlite"}, "both name"},
      {{"sweep", "own.xml", "--out", "q.sqlite", "--csv", "q.sqlite-wal"}, "both name"},
      {{"sweep", "own.xml", "--out", "q.sqlite", "--report", "own.xml"}, "would overwrite the scenario"},
      {{"plan", "own.xml", "--report", "own.xml"}, "would overwrite the scenario"},
      {{"sweep", "own.xml", "--out", ":memory:"}, "':memory:' is no file"},
      {{"sweep", "own.xml", "--out", "q.sqlite", "--learned", "./q.sqlite"}, "would overwrite --learned"},
      {{"merge", "m.sqlite", "steps.csv", "--csv", "steps.csv"}, "would overwrite a file to merge"},
      {{"merge", "steps.csv", "./steps.csv"}, "would overwrite a file to merge"},
      {{"own.xml", "--json", "dangling.json", "--csv", "later.json"}, "both name"},
      {{"own.xml", "--json", "-", "--csv", "/dev/stdout"}, "both name"},
      // These commands read further files, whose names are not given.
      {{"import", "t.0.et", "--step", "t.1.et"}, "would overwrite 't.1.et', which is read"},
      {{"import", "t.0.et", "--step", "s.xml", "--out", "./t.1.et"}, "--out './t.1.et' would overwrite"},
      {{"import", "t.0.et", "--step", "trace.xml"}, "--step 'trace.xml' would overwrite 't.1.et'"},
      {{"import", "t.0.et", "--step", "hard-trace.xml"}, "--step 'hard-trace.xml' would overwrite 't.1.et'"},
      {{"validate", "./jobs.csv", "--json", "job.xml"}, "would overwrite 'job.xml', which is read"},
      {{"validate", "./jobs.csv", "--json", "joined.xml"}, "joined.xml', which is read"},
      {{"validate", "./jobs.csv", "--json", "jobs.csv"}, "would overwrite the measurements"},
  };
  for (const auto& [arguments, says] : cases) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, kUsage) << says << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << says << ": " << outcome.err;
    EXPECT_EQ(content(), before) << says;
  }
}

// A line break in a file name once became a separate command.
TEST_F(Files, CommandsForAShellStayInTheirLineAndAreQuoted) {
  const std::string sweep =
      R"(<scenario name="s"><platform><gpu-cluster nodes="1" gpus="2" inside="nvlink-3" nic="ib-hdr"/></platform>
    <workers><worker hosts="gpu-*" device="a100-sxm4-80"/></workers><timed-as workload="resnet-50" batch="8"/><timing-only/>
    <run algorithm="gradient-sharing"/><sweep><vary path="timed-as.batch" values="1 2"/></sweep></scenario>)";
  write("s.xml", sweep);
  for (const char* name : {"a\n touch EXECUTED #.xml", "a\rb.xml", "a\x1b[2J.xml", "a\tb.xml", "a\x7f.xml"}) {
    write(name, sweep);
    EXPECT_EQ(run({"sweep", name, "--tasks", "2"}).exit_code, kUsage) << name;
    EXPECT_EQ(run({"sweep", "s.xml", "--tasks", "2", "--out", name}).exit_code, kUsage) << name;
    EXPECT_EQ(run({"sweep", "s.xml", "--tasks", "2", "--learned", name}).exit_code, kUsage) << name;
  }
  const std::string odd = "it's $(touch EXECUTED) `touch EXECUTED`; touch EXECUTED.xml";
  write(odd, sweep);
  const Outcome commands = run({"sweep", odd, "--tasks", "2"});
  ASSERT_EQ(commands.exit_code, kSuccess) << commands.err;
  write("commands", "dadsim() { :; }\n" + commands.out);
  ASSERT_EQ(std::system(("cd " + folder_.path().string() + " && sh commands").c_str()), 0);
  ASSERT_EQ(run({"sweep", odd, "--shard", "1/2", "--out", "1.sqlite", "--quiet"}).exit_code, kSuccess);
  const Outcome merged = run({"merge", "m.sqlite", "1.sqlite"});
  ASSERT_EQ(merged.exit_code, kSuccess) << merged.err;
  EXPECT_NE(merged.out.find("--out m.sqlite 'it'\\''s $(touch"), std::string::npos) << merged.out;
  EXPECT_FALSE(fs::exists(folder_.path() / "EXECUTED"));
}

// A write-protected file is not overwritten.
TEST_F(Files, AWriteProtectedFileStays) {
  write("kept.json", "mine");
  fs::permissions(folder_.path() / "kept.json", fs::perms::owner_read);
  const Outcome outcome = run({"own.xml", "--json", "kept.json"});
  EXPECT_EQ(outcome.exit_code, kOutputFailed) << outcome.err;
  EXPECT_NE(outcome.err.find("write-protected"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_file(folder_.path() / "kept.json"), "mine");
}

TEST_F(Files, AnExplanationIsAPageToo) {
  const Outcome outcome = run({"explain", "own.xml", "--set", "seed=5", "--json", "why.json", "--report", "why.html"});
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  EXPECT_NE(outcome.out.find("What if"), std::string::npos) << "the text is there all the same";
  const std::string page = read_file(folder_.path() / "why.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find(R"("set":["seed=5"])"), std::string::npos) << "what was set beside the file";
  EXPECT_NE(page.find(R"(\u003cscenario)"), std::string::npos) << "the scenario's text";
  const std::string same = nlohmann::ordered_json::parse(read_file(folder_.path() / "why.json")).dump();
  EXPECT_NE(page.find(same.substr(0, 200)), std::string::npos) << "the same JSON, in one line";
  const Outcome to_screen = run({"explain", "own.xml", "--report", "-"});
  EXPECT_TRUE(to_screen.out.starts_with("<!doctype html>") && to_screen.out.ends_with("</html>\n")) << "no text in it";
}

TEST_F(Files, ASymbolicLinkIsFollowed) {
  const Outcome outcome = run({"own.xml", "--quiet", "--json", "dangling.json"});
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "dangling.json"));
  EXPECT_TRUE(read_file(folder_.path() / "later.json").starts_with("{"));
}

// Paths that are not regular files are written directly, since users may not create temporary files in /dev.
TEST_F(Files, DevicesAndPipesAreWrittenTo) {
  EXPECT_EQ(run({"own.xml", "--quiet", "--json", "/dev/null", "--csv", "/dev/null"}).exit_code, kSuccess);
  for (const char* path : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const Outcome outcome = run({"own.xml", "--json", path});
    EXPECT_EQ(outcome.exit_code, kSuccess) << path << outcome.err;
    EXPECT_TRUE(outcome.out.starts_with("{") && outcome.out.ends_with("}\n")) << path << ": no table in it";
  }
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(pipe); });
  const Outcome outcome = run({"own.xml", "--quiet", "--json", "pipe"});
  if (outcome.exit_code != kSuccess) std::ofstream(pipe) << "";  // releases a reader that would wait for ever
  reader.join();
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  EXPECT_TRUE(read.starts_with("{"));
  EXPECT_TRUE(fs::is_fifo(pipe));
}

// If a message cannot be written, the program does not abort.
TEST_F(Files, StandardErrorThatCannotBeWritten) {
  const auto code = [&](const std::string& command) {
    const int status =
        std::system(("cd '" + folder_.path().string() + "' && " + DADSIM_BINARY + " " + command).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  };
  for (const std::string err : {" 2>/dev/full", " 2>&-"}) {
    EXPECT_EQ(code("none.xml" + err), kWrongInput) << err;
    EXPECT_EQ(code("own.xml --jason x" + err), kUsage) << err;
    EXPECT_EQ(code("own.xml --json /no/such/folder/x" + err), kOutputFailed) << err;
    EXPECT_EQ(code("own.xml --quiet --json x.json" + err), kSuccess) << err;
  }
  EXPECT_EQ(code("own.xml >&-"), kOutputFailed);
  EXPECT_EQ(code("own.xml --quiet --json y.json <&- >&- 2>&-"), kSuccess);
  EXPECT_TRUE(read_file(folder_.path() / "y.json").starts_with("{"));
}

// Control characters in names from files are escaped on a terminal.
TEST_F(Files, NamesDoNotSpeakToTheTerminal) {
  const std::string hostile =
      "r\xc2\x9b"
      "31m\xe2\x80\xae"
      "x";
  const std::string bytes = "\x1b]0;owned\x07";
  std::string scenario = flowers("two.xml");
  scenario.replace(scenario.find("name=\"flowers\""), 14, "name=\"" + hostile + "\"");
  scenario.replace(scenario.find("algorithm=\"gradient-sharing\""), 28,
                   "algorithm=\"gradient-sharing\" label=\"" + hostile + "\"");
  write("hostile.xml", scenario);
  std::string wrong = flowers("two.xml");
  wrong.replace(wrong.find("by=\"iid\""), 8, "by=\"" + hostile + "\"");
  write("wrong.xml", wrong);
  write("bytes.csv", "width,height,kind\n1," + bytes + ",rose\n2,1,lily\n");
  std::string data = flowers("two.xml");
  data.replace(data.find("flowers.csv"), 11, "bytes.csv");
  write("bytes.xml", data);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"hostile.xml"},
                                             {"wrong.xml"},
                                             {"bytes.xml"},
                                             {"no" + bytes + ".xml"},
                                             {"own.xml", "--set", hostile + "=1"},
                                             {"--" + bytes},
                                             {"explain", "hostile.xml"},
                                             {"own.xml", "--json", "no/such" + bytes}}) {
    const Outcome outcome = run(arguments);
    for (const std::string& text : {outcome.out, outcome.err}) {
      for (const char* sequence : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"})
        EXPECT_EQ(text.find(sequence), std::string::npos) << arguments[0] << ": " << text;
    }
  }
  EXPECT_NE(run({"hostile.xml"}).out.find("\\x9b"), std::string::npos) << "it is shown for what it is";
}

}  // namespace
}  // namespace dadsim::cli
