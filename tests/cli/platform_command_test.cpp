// Tests `dadsim platform`.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "report/documented_fields.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::run_dadsim;
using test::TemporaryFolder;

TEST(PlatformCommand, SaysWhatWasBuilt) {
  const Outcome outcome = run_dadsim({"platform", "platforms/p5.xml"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part : {"gpu-cluster: 128 hosts on 16 nodes.", "256  nvlink-4", "256  efa-400", "450 GB/s",
                           "best: gpu-0 → gpu-1", "over gpu-0 port_UP, gpu-1 port_DOWN", "worst: gpu-0 → gpu-8",
                           "Bisection: 3200 GB/s one way", "64 pairs", "rdma: the stated share"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(outcome.out.find("tcp:"), std::string::npos) << "no link is used so";
}

TEST(PlatformCommand, TakesFilesOfSimGridAndScenarios) {
  const Outcome file = run_dadsim({"platform", "platforms/hospitals.xml"});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_NE(file.out.find("SimGrid file: 6 hosts on 6 nodes."), std::string::npos) << file.out;
  EXPECT_NE(file.out.find("plain: bandwidth and latency"), std::string::npos) << file.out;
  const Outcome as_tcp = run_dadsim({"platform", "platforms/hospitals.xml", "--transport", "tcp"});
  EXPECT_NE(as_tcp.out.find("tcp: one connection per pair"), std::string::npos) << as_tcp.out;
  const Outcome scenario = run_dadsim({"platform", "scenarios/hospitals.xml"});
  EXPECT_EQ(scenario.exit_code, 0) << scenario.err;
  EXPECT_NE(scenario.out.find("SimGrid file: 6 hosts on 6 nodes."), std::string::npos) << scenario.out;
}

TEST(PlatformCommand, EveryShippedPlatformCanBeLookedAt) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(DADSIM_SOURCE_DIR) / "platforms")) {
    if (entry.path().extension() != ".xml") continue;
    const Outcome outcome = run_dadsim({"platform", entry.path().string(), "--json", "-"});
    ASSERT_EQ(outcome.exit_code, 0) << entry.path() << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_GE(json["platform"]["hosts"], 2) << entry.path();
    EXPECT_EQ(json["routes"]["missing"], 0) << entry.path();
    EXPECT_GT(json["bisection"]["bytes_per_second"], 0) << entry.path();
  }
}

TEST(PlatformCommand, ListsTheNamesOfLinks) {
  const Outcome outcome = run_dadsim({"platform", "platforms/lab.xml", "--links"});
  const std::string names = outcome.out.substr(outcome.out.find("Names of the links:\n"));
  EXPECT_EQ(names,
            "Names of the links:\n  node-0 rail-0_DOWN\n  node-0 rail-0_UP\n  node-1 rail-0_DOWN\n  node-1 rail-0_UP\n"
            "  node-2 rail-0_DOWN\n  node-2 rail-0_UP\n  node-3 rail-0_DOWN\n  node-3 rail-0_UP\n");
  EXPECT_EQ(run_dadsim({"platform", "platforms/lab.xml"}).out.find("node-3 rail-0_UP"), std::string::npos);
}

TEST(PlatformCommand, WritesRoutesLinkByLink) {
  const Outcome outcome = run_dadsim({"platform", "platforms/testbed/dumbbell44.xml", "--routes", "-"});
  EXPECT_TRUE(outcome.out.starts_with("from,to,link,bytes_per_second,latency_seconds,queue_bytes,transport\n"));
  EXPECT_NE(outcome.out.find("\nleft-1,right-2,left-1 line_UP,25000000,5e-05,300000,tcp\n"
                             "left-1,right-2,left -> right,6250000,0.02,300000,tcp\n"
                             "left-1,right-2,right-2 line_DOWN,25000000,5e-05,300000,tcp\n"),
            std::string::npos);
  // 24 pairs inside regions use two links each, and 32 pairs between regions three.
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1 + 24 * 2 + 32 * 3);
}

TEST(PlatformCommand, DocumentsEveryFieldAndNoOther) {
  const Outcome outcome = run_dadsim({"platform", "platforms/lab.xml", "--json", "-"});
  EXPECT_EQ(test::fields_of(outcome.out), test::documented_in("output-platform.md"));
}

TEST(PlatformCommand, WritesDotAndJsonBesideTheText) {
  const TemporaryFolder folder;
  const std::filesystem::path dot = folder.path() / "a.dot";
  const std::filesystem::path json = folder.path() / "a.json";
  const Outcome outcome = run_dadsim({"platform", "platforms/lab.xml", "--dot", dot.string(), "--json", json.string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("4 hosts"), std::string::npos);
  EXPECT_EQ(test::read_file(dot).rfind("graph platform {", 0), 0U);
  EXPECT_EQ(nlohmann::json::parse(test::read_file(json))["platform"]["hosts"], 4);
  const Outcome alone = run_dadsim({"platform", "platforms/lab.xml", "--dot", "-"});
  EXPECT_EQ(alone.out, test::read_file(dot)) << "not mixed with the text";
  EXPECT_EQ(run_dadsim({"platform", "platforms/lab.xml", "--quiet"}).out, "");
}

/// A program named `dot` in the only folder of PATH.
class FakeDot {
 public:
  explicit FakeDot(const std::string& code) {
    const std::filesystem::path program = folder_.path() / "dot";
    std::ofstream(program) << "#!/bin/sh\n" << code << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  std::map<std::string, std::string> environment() const { return {{"PATH", folder_.path().string()}}; }

 private:
  TemporaryFolder folder_;
};

TEST(PlatformCommand, HasDotDrawThePicture) {
  const FakeDot dot("echo \"$@\"; while read -r line; do echo \"$line\"; done");
  const Outcome outcome =
      run_dadsim({"platform", "platforms/lab.xml", "--svg", "-"}, DADSIM_SOURCE_DIR, {}, dot.environment());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("-Tsvg\ngraph platform {", 0), 0U) << outcome.out;
}

TEST(PlatformCommand, APictureThatCannotBeDrawnIsAnErrorThatNamesThePackage) {
  const TemporaryFolder folder;
  const std::string svg = (folder.path() / "a.svg").string();
  const std::vector<std::string> arguments{"platform", "platforms/lab.xml", "--svg", svg};
  const Outcome missing = run_dadsim(arguments, DADSIM_SOURCE_DIR, {}, {{"PATH", folder.path().string()}});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_NE(missing.err.find("install the package graphviz"), std::string::npos) << missing.err;
  const FakeDot broken("echo 'no layout here' >&2; exit 3");
  const Outcome failed = run_dadsim(arguments, DADSIM_SOURCE_DIR, {}, broken.environment());
  EXPECT_EQ(failed.exit_code, 4);
  EXPECT_NE(failed.err.find("could not draw the platform: no layout here"), std::string::npos) << failed.err;
  EXPECT_EQ(folder.files(), 0U);
}

TEST(PlatformCommand, GraphvizTakesThePicturesOfAllShippedPlatforms) {
  if (std::system("command -v dot >/dev/null 2>&1") != 0) GTEST_SKIP() << "the package graphviz is not installed";
  for (const char* name : {"lab", "p5", "dgx-h100-pod", "fat-tree-1024", "torus-pod", "dragonfly", "phones",
                           "three-cloud-regions", "two-clusters-wan", "hospitals", "infiniband"}) {
    const Outcome outcome = run_dadsim({"platform", std::string("platforms/") + name + ".xml", "--svg", "-"});
    EXPECT_EQ(outcome.exit_code, 0) << name << outcome.err;
    EXPECT_NE(outcome.out.find("<svg"), std::string::npos) << name;
    EXPECT_NE(outcome.out.find("</svg>"), std::string::npos) << name;
  }
}

TEST(PlatformCommand, WrongFilesAreToldAndExitWithThree) {
  const TemporaryFolder folder;
  const std::string broken = (folder.path() / "broken.xml").string();
  std::ofstream(broken)
      << "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
         "version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n"
         "<host id=\"h\" speed=\"fast\"/>\n</zone>\n</platform>\n";
  const std::string declared = (folder.path() / "declared.xml").string();
  std::ofstream(declared) << "<cluster-platform>\n<gpu-cluster nodes=\"2\"/>\n</cluster-platform>\n";
  for (const auto& [path, says] :
       std::vector<std::pair<std::string, std::string>>{{"nowhere.xml", "nowhere.xml: no such file"},
                                                        {"README.md", "README.md:1: this is not XML"},
                                                        {broken, "broken.xml:5"},
                                                        {declared, "declared.xml:2"}}) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"platform", path},
          std::vector<std::string>{"collective", "--op", "send", "--platform", path}}) {
      const Outcome outcome = run_dadsim(arguments);
      EXPECT_EQ(outcome.exit_code, 3) << path << outcome.err;
      EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
      EXPECT_EQ(outcome.out, "");
    }
  }
}

// SimGrid dereferences a null pointer if a zone with routing="Dijkstra" has a host without links.
TEST(PlatformCommand, AHostWithoutARouteIsToldAsTheFilesFault) {
  const test::TemporaryFolder folder;
  for (const char* routing : {"Dijkstra", "DijkstraCache"}) {
    folder.write("three.xml", R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing=")" +
                                  std::string(routing) + R"(">
<host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/><host id="h2" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1us"/><route src="h0" dst="h1"><link_ctn id="l"/></route></zone></platform>)");
    const test::Outcome outcome = test::run_dadsim({"platform", "three.xml"}, folder.path());
    EXPECT_EQ(outcome.exit_code, kWrongInput) << routing << outcome.err;
    EXPECT_NE(outcome.err.find("there is no route from 'h0' to 'h2'"), std::string::npos) << routing << outcome.err;
    EXPECT_NE(outcome.err.find("add a <route>"), std::string::npos) << routing << outcome.err;
  }
}

TEST(PlatformCommand, WrongUseIsToldAndExitsWithTwo) {
  const std::string platform = "platforms/lab.xml";
  for (const auto& [arguments, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "no platform is named"},
           {{platform, platform}, "one argument too many"},
           {{platform, "--dto", "x"}, "did you mean '--dot'?"},
           {{platform, "--dot", "x", "--svg", "x"}, "--dot and --svg both name 'x'"},
           {{platform, "--transport", "tpc"}, "did you mean 'tcp'?"},
           {{platform, "--transport", "tcp"}, "use it with files of SimGrid"}}) {
    std::vector<std::string> all{"platform"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_dadsim(all);
    EXPECT_EQ(outcome.exit_code, 2) << says << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(run_dadsim({"platform", platform, "--json", "/nowhere/at/all.json"}).exit_code, 4);
  EXPECT_NE(run_dadsim({"platform", "--help"}).out.find("--svg"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::cli
