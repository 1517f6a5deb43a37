#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/process.hpp"
#include "cli/processors.hpp"
#include "support/kernel_set.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::run_dadsim;
using test::small;
using test::TemporaryFolder;

/// Returns a result without the values that differ between equal runs.
nlohmann::ordered_json comparable(const std::string& text) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
  json.erase("wall_clock");
  return json;
}

TEST(CommandLine, HelpAndVersion) {
  const Outcome help = run_dadsim({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option :
       {"--json", "--csv", "--set", "--seed", "--threads", "--check", "--print-scenario", "--quiet"}) {
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
  }
  for (const char* command : {"platform", "collective", "algorithms", "compressors", "models", "devices", "workloads",
                              "links", "frameworks", "regions", "collectives"}) {
    EXPECT_NE(help.out.find(std::string("dadsim ") + command), std::string::npos) << command;
  }
  EXPECT_EQ(run_dadsim({"help", "sweep"}).exit_code, 0);
  const Outcome unknown = run_dadsim({"help", "no-such"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("there is no command 'no-such'; dadsim --help names all"), std::string::npos)
      << unknown.err;
  const Outcome version = run_dadsim({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out.rfind("dadsim ", 0), 0U);
}

TEST(CommandLine, KernelsAreChosenByAnEnvironmentVariable) {
  const auto version_with = [](const std::string& kernels) {
    return run_dadsim({"--version"}, DADSIM_SOURCE_DIR, {}, {{"DADSIM_KERNELS", kernels}});
  };
  const Outcome unknown = version_with("sse9");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("DADSIM_KERNELS=sse9: there are no kernels of this name; use one of portable"),
            std::string::npos)
      << unknown.err;
  for (const KernelSet set : kKernelSets) {
    const std::string name(name_of(set));
    const Outcome version = version_with(name);
    ASSERT_EQ(version.exit_code, runs_here(set) ? 0 : 2) << version.err;
    if (!runs_here(set)) continue;
    EXPECT_NE(version.out.find("; " + name + " kernels)"), std::string::npos) << version.out;
    EXPECT_EQ(version.out.find("+" + name) != std::string::npos, set != KernelSet::portable) << version.out;
  }
}

TEST(CommandLine, CatalogsAreTheOnesInTheDocs) {
  for (const std::string name :
       {"algorithms", "compressors", "models", "devices", "workloads", "links", "regions", "collectives"}) {
    const Outcome outcome = run_dadsim({name});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out,
              test::read_file(std::filesystem::path(DADSIM_SOURCE_DIR) / "docs" / "catalog" / (name + ".txt")))
        << "write it anew: dadsim " << name << " > docs/catalog/" << name << ".txt";
  }
}

TEST(CommandLine, PagesOfAlgorithmsAreTheOnesInTheDocs) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(run_dadsim({"algorithms", "--pages", folder.path().string()}).exit_code, 0);
  const std::filesystem::path docs = std::filesystem::path(DADSIM_SOURCE_DIR) / "docs" / "algorithms";
  std::size_t pages = 0;
  for (const auto& page : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(test::read_file(page.path()), test::read_file(docs / page.path().filename()))
        << "write them anew: dadsim algorithms --pages docs/algorithms";
    ++pages;
  }
  EXPECT_EQ(pages, static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(docs), {})))
      << "a page of what is no more";
}

TEST(CommandLine, PagesOfAlgorithmsOverwriteNothingElse) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path().string();
  const std::filesystem::path readme = folder.path() / "README.md";
  std::ofstream(readme) << "# My notes\n";
  const Outcome refused = run_dadsim({"algorithms", "--pages", path});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("README.md', which this program did not write"), std::string::npos) << refused.err;
  EXPECT_EQ(test::read_file(readme), "# My notes\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is written";
  std::filesystem::remove(readme);
  EXPECT_EQ(run_dadsim({"algorithms", "--pages", path}).exit_code, 0);
  EXPECT_EQ(run_dadsim({"algorithms", "--pages", path}).exit_code, 0) << "its own pages are written anew";
}

TEST(CommandLine, AListingIsSearched) {
  const Outcome found = run_dadsim({"algorithms", "family:", "low-rank"});
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_NE(found.out.find("\npower-sgd\n"), std::string::npos);
  EXPECT_NE(found.out.find("\nrank-dad\n"), std::string::npos);
  EXPECT_EQ(found.out.find("\nfedavg\n"), std::string::npos);
  EXPECT_NE(run_dadsim({"algorithms", "perpetuum"}).out.find("no entry contains perpetuum"), std::string::npos);
  EXPECT_EQ(run_dadsim({"devices", "--pages", "x"}).exit_code, 2);
}

struct WrongUse {
  std::vector<std::string> arguments;
  std::string says;
};

TEST(CommandLine, WrongUseIsToldAndExitsWithTwo) {
  const std::string scenario = "scenarios/hospitals.xml";
  const std::vector<WrongUse> cases{
      {{}, "no scenario is named"},
      {{"--jason", "x", scenario}, "did you mean '--json'?"},
      {{"--frobnicate", scenario}, "unknown option '--frobnicate'"},
      {{scenario, scenario}, "one argument too many"},
      {{scenario, "--json"}, "--json"},
      {{scenario, "--json", ""}, "--json"},
      {{scenario, "--threads", "0"}, "from 1 to 1024"},
      {{scenario, "--threads", "many"}, "from 1 to 1024"},
      {{scenario, "--threads", "99999999999999999999"}, "from 1 to 1024"},
      {{scenario, "--json", "x", "--csv", "x"}, "both name 'x'"},
      {{scenario, "--check", "--json", "x"}, "--json needs a result"},
      {{scenario, "--check", "--print-scenario"}, "--check and --print-scenario cannot be combined"},
      {{"devices", "--set", "a=b"}, "--set has no effect with 'dadsim devices'; remove it"},
      {{"regoins"}, "no file and no command 'regoins'; did you mean 'regions'?"},
      {{"colective", "--op", "send"}, "did you mean 'collective'?"},
      {{"--quiet", "platform", "x"}, "'platform' comes after options; write dadsim platform first"},
      {{""}, "an argument is empty"},
      {{"platform", ""}, "an argument is empty"},
      {{"layout", "--fix", "tensor=2", "--fix", "tensor=4", scenario}, "--fix tensor is given twice"},
      {{"layout", "--fix", "tensor=abc", "--fix", "pipeline=-1", scenario}, "--fix pipeline=-1: "},
      {{"layout", "--fix", "sharding=", scenario}, "one of none, optimizer, gradients, parameters"},
      {{"layout", "--fix", "tensor", scenario}, "use NAME=VALUE with NAME one of batch, tensor"},
      {{"layout", "--fix", "offload=optimizer", scenario}, "use NAME=VALUE with NAME one of batch, tensor"},
      {{"layout", "--write", "megatorn", scenario}, "did you mean 'megatron'?"},
      {{"layout", "--out", "launch.sh", scenario}, "--out needs --write FRAMEWORK"},
      {{"layout", "--write", "deepspeed", "--json", "-", scenario}, "both name '-'"},
      {{"calibrate", "x.csv", "--device", "a\x1b[2J"}, "control characters"},
  };
  for (const WrongUse& wrong : cases) {
    const Outcome outcome = run_dadsim(wrong.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << wrong.says;
    EXPECT_NE(outcome.err.find(wrong.says), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandLine, ALayoutThatTheDevicesDoNotHaveIsWrongUse) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "four.xml")
      << R"(<scenario name="small" seed="1"><platform><gpu-cluster nodes="2" gpus="2" inside="nvlink-3" rails="1" nic="ib-hdr"/>
         </platform><workers><worker hosts="gpu-[0-3]" device="a100-sxm4-80"/></workers><timing-only/>
         <timed-as workload="bert-base" batch="8" precision="bf16"/><run algorithm="gradient-sharing"/></scenario>)";
  for (const std::string value : {"tensor=3", "pipeline=5"}) {
    const Outcome outcome = run_dadsim({"layout", "four.xml", "--fix", value, "--json", "-"}, folder.path());
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("No layout has " + value + " on 4 devices"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome found = run_dadsim({"layout", "four.xml", "--fix", "tensor=2", "--simulate", "1"}, folder.path());
  EXPECT_EQ(found.exit_code, 0) << found.err;
}

TEST(CommandLine, ALayoutGoesOutAsLaunchArgumentsAndIn) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "four.xml")
      << R"(<scenario name="small" seed="1"><platform><gpu-cluster nodes="2" gpus="2" inside="nvlink-3" rails="1" nic="ib-hdr"/>
         </platform><workers><worker hosts="gpu-[0-3]" device="a100-sxm4-80"/></workers><timing-only/>
         <timed-as workload="bert-base" batch="8" precision="bf16" recompute="full"/><run algorithm="gradient-sharing"/></scenario>)";
  const Outcome out = run_dadsim({"layout", "four.xml", "--fix", "tensor=2", "--fix", "pipeline=1", "--simulate", "1",
                                  "--write", "megatron", "--quiet"},
                                 folder.path());
  ASSERT_EQ(out.exit_code, 0) << out.err;
  EXPECT_NE(out.out.find("--nnodes 2 \\\n  --nproc-per-node 2"), std::string::npos) << out.out;
  std::ofstream(folder.path() / "launch.sh") << out.out;
  const Outcome in = run_dadsim({"import", "launch.sh"}, folder.path());
  ASSERT_EQ(in.exit_code, 0) << in.err;
  EXPECT_NE(in.out.find("--set timed-as.tensor=2 --set timed-as.sequence-parallel=true"), std::string::npos) << in.out;
  EXPECT_EQ(in.err.rfind("megatron: 4 devices, ", 0), 0U) << in.err;
  std::vector<std::string> check{"run", "four.xml", "--check"};
  std::istringstream words(in.out);
  for (std::string word; words >> word;) check.push_back(word);
  const Outcome checked = run_dadsim(check, folder.path());
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  const Outcome lacking = run_dadsim(
      {"layout", "four.xml", "--fix", "pipeline=2", "--simulate", "1", "--write", "deepspeed"}, folder.path());
  EXPECT_NE(lacking.err.find("deepspeed has no argument for pipeline=2"), std::string::npos) << lacking.err;
  EXPECT_NE(lacking.err.find("; to search layouts without them, add --fix pipeline=1"), std::string::npos)
      << lacking.err;
  EXPECT_EQ(lacking.out.rfind("{\n", 0), 0U) << lacking.out;
  EXPECT_EQ(run_dadsim({"import", "launch.sh", "--devices", "4"}, folder.path()).err,
            "launch.sh: already gives the number of devices; remove --devices\n");
  EXPECT_EQ(run_dadsim({"import", "launch.sh", "--sequence", "4"}, folder.path()).exit_code, 2);
}

TEST(CommandLine, ShippedScenariosAreRight) {
  for (const std::string name : {"hospitals.xml", "infiniband.xml", "failures.xml", "stragglers.xml", "phones.xml",
                                 "forward-gradient.xml", "cogd.xml"}) {
    const Outcome outcome = run_dadsim({"scenarios/" + name, "--check"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(CommandLine, AnswersOnTheTerminalAndQuietlyInAPipe) {
  const Outcome outcome = run_dadsim(small({"scenarios/hospitals.xml"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no progress where nobody looks";
  for (const char* run : {"pooled", "no-sharing", "gradient-sharing", "dad", "edad", "rank-dad"}) {
    EXPECT_NE(outcome.out.find(run), std::string::npos) << run;
  }
  const Outcome verbose = run_dadsim(small({"scenarios/hospitals.xml", "--verbose"}));
  for (const char* network : {"Links as tcp: one connection per pair", "Carried out: ", "gather as flat"}) {
    EXPECT_NE(verbose.out.find(network), std::string::npos) << network;
    EXPECT_EQ(outcome.out.find(network), std::string::npos) << network;
  }
  EXPECT_EQ(run_dadsim(small({"scenarios/hospitals.xml", "--quiet"})).out, "");
}

TEST(CommandLine, SameSeedSameBytesForAnyNumberOfThreads) {
  for (const std::string scenario : {"scenarios/hospitals.xml", "scenarios/infiniband.xml"}) {
    const std::string first = run_dadsim(small({scenario, "--json", "-", "--threads", "1"})).out;
    ASSERT_NE(first, "");
    for (const char* threads : {"1", "4"}) {
      const std::string again = run_dadsim(small({scenario, "--json", "-", "--threads", threads})).out;
      EXPECT_EQ(comparable(again).dump(), comparable(first).dump()) << threads << " threads";
    }
    if (scenario != "scenarios/hospitals.xml") continue;
    const std::string other = run_dadsim(small({scenario, "--json", "-", "--seed", "2"})).out;
    EXPECT_NE(comparable(other).dump(), comparable(first).dump());
  }
}

TEST(CommandLine, SameSeedSameBytesWithEverySetOfKernels) {
  std::map<std::string_view, std::set<std::string>> results;
  for (const test::Processor& processor : test::processors()) {
    if (!processor.missing().empty()) continue;
    for (int i = 0; i < 2; ++i) {
      const Outcome outcome =
          run_dadsim(small({"scenarios/crossover.xml", "--json", "-"}), DADSIM_SOURCE_DIR, {}, processor.environment());
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      results[name_of(processor.kernels)].insert(comparable(outcome.out).dump());
    }
  }
  // Results are the same with every code path of the C library for exponentials and logarithms.
  for (const auto& [kernels, of_them] : results) EXPECT_EQ(of_them.size(), 1U) << kernels;
}

TEST(CommandLine, ThePrintedScenarioGivesTheSameResult) {
  for (const std::string scenario : {"scenarios/hospitals.xml", "scenarios/infiniband.xml"}) {
    const TemporaryFolder folder;
    const Outcome printed = run_dadsim(small({scenario, "--print-scenario"}));
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    std::ofstream(folder.path() / "resolved.xml") << printed.out;
    const Outcome again = run_dadsim({"resolved.xml", "--print-scenario"}, folder.path());
    EXPECT_EQ(again.out, printed.out) << again.err;
    const std::string from_original = run_dadsim(small({scenario, "--json", "-"})).out;
    const std::string from_printed = run_dadsim({"resolved.xml", "--json", "-"}, folder.path()).out;
    EXPECT_EQ(comparable(from_original).dump(), comparable(from_printed).dump());
  }
}

TEST(CommandLine, WritesFilesWhole) {
  const TemporaryFolder folder;
  const std::string json = (folder.path() / "a.json").string();
  const std::string csv = (folder.path() / "a.csv").string();
  const Outcome outcome = run_dadsim(small({"scenarios/hospitals.xml", "--json", json, "--csv", csv}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto result = nlohmann::json::parse(test::read_file(json));
  ASSERT_EQ(result["runs"].size(), 7U);
  EXPECT_EQ(result["scenario"]["name"], "Five hospitals");
  for (const auto& run : result["runs"]) EXPECT_EQ(run["network"]["fidelity"], "message") << run["label"];
  EXPECT_EQ(result["runs"][2]["network"]["collectives"][0]["algorithm"], "flat");
  EXPECT_GT(test::read_file(csv).size(), 100U);
  EXPECT_EQ(folder.files(), 2U);
}

TEST(CommandLine, AnInterruptLeavesOldFilesAsTheyWere) {
  const TemporaryFolder folder;
  const std::filesystem::path json = folder.path() / "a.json";
  std::ofstream(json) << "old";
  const Outcome outcome =
      run_dadsim({"scenarios/hospitals.xml", "--json", json.string(), "--set", "training.epochs=1000"},
                 DADSIM_SOURCE_DIR, std::chrono::milliseconds(1500));
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(test::read_file(json), "old");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(CommandLine, AResultThatCannotBeWrittenIsToldBeforeAnythingRuns) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.path().string(), (folder.path() / "no" / "folder.json").string()}) {
    const double before = test::cpu_seconds_of_children();
    const Outcome outcome = run_dadsim({"scenarios/hospitals.xml", "--json", path, "--set", "training.epochs=1000"});
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_NE(outcome.err.find(path), std::string::npos);
    EXPECT_LT(test::cpu_seconds_of_children() - before, 10) << "a thousand epochs take minutes";
  }
  // A full disk shows only when the result is written.
  const Outcome full = run_dadsim(small({"scenarios/hospitals.xml", "--json", "/dev/full"}));
  EXPECT_EQ(full.exit_code, 4) << full.err;
}

TEST(CommandLine, ATrainingThatDivergesIsReportedNotHidden) {
  const TemporaryFolder folder;
  const std::filesystem::path source = DADSIM_SOURCE_DIR;
  std::string text = test::read_file(source / "scenarios" / "hospitals.xml");
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"<adam learning-rate=\"1e-3\"/>", "<sgd learning-rate=\"1e6\"/>"},
        std::pair<std::string, std::string>{"\"relu\"", "\"identity\""},
        std::pair<std::string, std::string>{"../platforms", (source / "platforms").string()}}) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  std::ofstream(folder.path() / "diverging.xml") << text;
  const Outcome outcome = run_dadsim(small({"diverging.xml", "--json", "-"}), folder.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto result = nlohmann::json::parse(outcome.out);
  for (const auto& run : result["runs"]) {
    bool told = false;
    for (const auto& note : run["notes"]) told |= note["kind"] == "divergence";
    EXPECT_TRUE(told) << run["label"];
    EXPECT_EQ(run["target_reached"], false);
  }
}

}  // namespace
}  // namespace dadsim::cli
