// Tests `dadsim collective` against closed forms on a star, where a message takes α + b/B.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "sim/star.hpp"

namespace dadsim::cli {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run_dadsim;
using test::Star;
using test::TemporaryFile;
using test::TemporaryFolder;

using Arguments = std::vector<std::string>;

Arguments collective(const std::string& platform, const std::string& operation, const Arguments& more = {}) {
  Arguments arguments{"collective", "--platform", platform, "--op", operation};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

json timed(const std::string& platform, const std::string& operation, Arguments more = {}) {
  more.insert(more.end(), {"--json", "-"});
  const Outcome outcome = run_dadsim(collective(platform, operation, more));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return json::parse(outcome.out);
}

constexpr std::size_t kRanks = 4;
constexpr double kKiB = 1024;
const Star kRanksStar{.workers = kRanks, .rate = 2e6, .latency = 0.002};
const Arguments kWorkers{"--hosts", "w[0-3]"};

Arguments with_workers(Arguments more) {
  more.insert(more.end(), kWorkers.begin(), kWorkers.end());
  return more;
}

void expect_time(const json& result, std::size_t row, double seconds) {
  EXPECT_NEAR(result["sizes"].at(row)["time_us"].get<double>() / (seconds * 1e6), 1, 1e-9) << result.dump(1);
}

TEST(CollectiveCommand, TakesTheTimesOfTheClosedForms) {
  const TemporaryFile file(kRanksStar.xml());
  const std::string platform = file.path();
  const double n = kRanks;
  const json reduced = timed(platform, "all-reduce", with_workers({"--algorithm", "ring", "--sizes", "64KB:256KB:4"}));
  ASSERT_EQ(reduced["sizes"].size(), 2U);
  expect_time(reduced, 0, 2 * (n - 1) * kRanksStar.between(64 * kKiB / n));
  expect_time(reduced, 1, 2 * (n - 1) * kRanksStar.between(256 * kKiB / n));
  // If a vector consists of blocks, its size is the total over all ranks.
  const Arguments ring{"--algorithm", "ring", "--sizes", "64KB"};
  expect_time(timed(platform, "all-gather", with_workers(ring)), 0, (n - 1) * kRanksStar.between(64 * kKiB / n));
  expect_time(timed(platform, "reduce-scatter", with_workers(ring)), 0, (n - 1) * kRanksStar.between(64 * kKiB / n));
  const Arguments pairwise{"--algorithm", "pairwise", "--sizes", "64KB"};
  expect_time(timed(platform, "all-to-all", with_workers(pairwise)), 0, (n - 1) * kRanksStar.between(64 * kKiB / n));
  const Arguments flat{"--algorithm", "flat", "--sizes", "64KB"};
  const double blocks =
      2 * kRanksStar.latency + (n - 1) * 64 * kKiB / n / kRanksStar.rate;  // all blocks leave over the root's own link
  expect_time(timed(platform, "gather", with_workers(flat)), 0, blocks);
  expect_time(timed(platform, "scatter", with_workers(flat)), 0, blocks);
  expect_time(timed(platform, "broadcast", with_workers(flat)), 0,
              2 * kRanksStar.latency + (n - 1) * 64 * kKiB / kRanksStar.rate);
  expect_time(timed(platform, "send", with_workers({"--sizes", "64KB"})), 0, kRanksStar.between(64 * kKiB));
  // Two messages to one rank share its link. The two directions between a pair use separate links.
  expect_time(timed(platform, "neighbour-exchange", with_workers({"--sizes", "64KB", "--pairs", "0>2,1>2"})), 0,
              2 * kRanksStar.latency + 2 * 64 * kKiB / kRanksStar.rate);
  expect_time(timed(platform, "neighbour-exchange", with_workers({"--sizes", "64KB", "--pairs", "0>2,2>0"})), 0,
              kRanksStar.between(64 * kKiB));
}

TEST(CollectiveCommand, TheRootMayBeAnyRank) {
  // The hub, the last rank here, has no links of its own, so its messages have the latency of one link.
  const TemporaryFile file(kRanksStar.xml());
  const Arguments hosts{"--hosts", "w[0-3] hub", "--algorithm", "flat", "--sizes", "64KB"};
  Arguments from_hub = hosts;
  from_hub.insert(from_hub.end(), {"--root", "4"});
  expect_time(timed(file.path(), "broadcast", from_hub), 0, kRanksStar.to_hub(64 * kKiB));
  EXPECT_EQ(timed(file.path(), "broadcast", hosts)["root"], 0);
}

TEST(CollectiveCommand, SizesPerRankAreThoseOfABlock) {
  const TemporaryFile file(kRanksStar.xml());
  for (const char* operation : {"all-gather", "reduce-scatter", "gather", "scatter", "all-to-all"}) {
    const json per_rank = timed(file.path(), operation, with_workers({"--sizes", "16KB", "--per-rank"}));
    const json in_all = timed(file.path(), operation, with_workers({"--sizes", "64KB"}));
    EXPECT_EQ(per_rank["sizes"], in_all["sizes"]) << operation;
    EXPECT_EQ(in_all["sizes"][0]["size_bytes"], 64 * kKiB);
    EXPECT_EQ(in_all["sizes"][0]["block_bytes"], 16 * kKiB);
    EXPECT_EQ(in_all["sizes"][0]["count_float32"], 4 * kKiB);
  }
  for (const char* operation : {"all-reduce", "broadcast", "send"}) {
    EXPECT_EQ(timed(file.path(), operation, with_workers({"--sizes", "16KB", "--per-rank"}))["sizes"],
              timed(file.path(), operation, with_workers({"--sizes", "16KB"}))["sizes"])
        << operation;
  }
}

TEST(CollectiveCommand, EveryFidelityIsTakenAndTold) {
  const TemporaryFile file(kRanksStar.xml());
  const double seconds = 6 * kRanksStar.between(64 * kKiB / kRanks);
  for (const char* fidelity : {"auto", "message", "flow", "closed-form"}) {
    const json result = timed(file.path(), "all-reduce",
                              with_workers({"--algorithm", "ring", "--sizes", "64KB", "--fidelity", fidelity}));
    expect_time(result, 0, seconds);
    EXPECT_EQ(result["sizes"][0]["fidelity"], fidelity == std::string("auto") ? "message" : fidelity);
  }
}

TEST(CollectiveCommand, BestIsTheQuickestAndSaysWhatItWasComparedWith) {
  const TemporaryFile file(kRanksStar.xml());
  const auto row = [&](const std::string& algorithm) {
    return timed(file.path(), "all-reduce", with_workers({"--algorithm", algorithm, "--sizes", "64KB"}))["sizes"][0];
  };
  const json best = row("best");
  const std::string chosen = best["algorithm"];
  EXPECT_NE(best["compared"]["words"].get<std::string>().find(chosen), std::string::npos) << best["compared"];
  for (const char* other : {"ring", "halving-doubling", "recursive-doubling", "reduce-broadcast"}) {
    const json one = row(other);
    EXPECT_LE(best["time_us"].get<double>(), 1.000001 * one["time_us"].get<double>()) << chosen << " and " << other;
    EXPECT_FALSE(one.contains("compared")) << other;
  }
  const Outcome table =
      run_dadsim(collective(file.path(), "all-reduce", with_workers({"--algorithm", "best", "--sizes", "64KB"})));
  EXPECT_NE(table.out.find("Best for 65536 B: " + chosen + " (by flow "), std::string::npos) << table.out;
}

TEST(CollectiveCommand, ColdConnectionsAreSlowerWhereLinksAreTcp) {
  const TemporaryFile file(kRanksStar.xml());
  const Arguments sizes{"--sizes", "64KB,256KB"};
  const json plain = timed(file.path(), "send", with_workers(sizes));
  EXPECT_TRUE(plain["sizes"][0]["cold_us"].is_null());
  Arguments tcp = with_workers(sizes);
  tcp.insert(tcp.end(), {"--transport", "tcp"});
  const json warm = timed(file.path(), "send", tcp);
  EXPECT_EQ(warm["connections"], "warm");
  EXPECT_EQ(warm["network"]["links"][0]["transport"], "tcp");
  tcp.emplace_back("--cold");
  const json cold = timed(file.path(), "send", tcp);
  EXPECT_EQ(cold["connections"], "cold");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(warm["sizes"][i]["warm_us"], plain["sizes"][i]["warm_us"]) << "headers and software take time";
    EXPECT_GT(warm["sizes"][i]["cold_us"], warm["sizes"][i]["warm_us"]) << "slow start";
    EXPECT_EQ(warm["sizes"][i]["time_us"], warm["sizes"][i]["warm_us"]);
    EXPECT_EQ(cold["sizes"][i]["time_us"], warm["sizes"][i]["cold_us"]);
  }
}

TEST(CollectiveCommand, RendezvousWaitsForTheReceiver) {
  // Announcing that a message is awaited takes one route latency, and the message another.
  const TemporaryFile file(kRanksStar.xml());
  const json result = timed(file.path(), "send", with_workers({"--sizes", "64KB", "--rendezvous"}));
  EXPECT_EQ(result["rendezvous"], true);
  expect_time(result, 0, 2 * kRanksStar.latency + kRanksStar.between(64 * kKiB));
}

TEST(CollectiveCommand, RanksAreTheHostsOfThePlatform) {
  EXPECT_EQ(timed("platforms/lab.xml", "send", {"--sizes", "1KB"})["hosts"],
            json({"gpu-0", "gpu-1", "gpu-2", "gpu-3"}));
  EXPECT_EQ(timed("platforms/lab.xml", "send", {"--sizes", "1KB", "--ranks", "2"})["hosts"], json({"gpu-0", "gpu-1"}));
  EXPECT_EQ(timed("platforms/lab.xml", "send", {"--sizes", "1KB", "--hosts", "gpu-3 gpu-[0-1]"})["hosts"],
            json({"gpu-3", "gpu-0", "gpu-1"}));
  EXPECT_EQ(timed("platforms/phones.xml", "send", {"--sizes", "1KB"})["ranks"], 200) << "without the hub";
  EXPECT_EQ(timed("platforms/phones.xml", "send", {"--sizes", "1KB", "--hosts", "phone-5g-1 hub"})["ranks"], 2);
  const json of_file = timed("platforms/infiniband.xml", "send", {"--sizes", "1KB"});
  EXPECT_EQ(of_file["hosts"][2], "gpu-2") << "numbers in names count as numbers";
  EXPECT_EQ(of_file["hosts"][10], "gpu-10");
  EXPECT_EQ(timed("scenarios/infiniband.xml", "send", {"--sizes", "1KB"})["sizes"], of_file["sizes"]);
}

TEST(CollectiveCommand, PrintsATableQuietlyInAPipe) {
  const Outcome outcome = run_dadsim(collective("platforms/p5.xml", "all-reduce", {"--sizes", "1MB,64MB"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no progress where nobody looks";
  for (const char* part :
       {"all-reduce on platforms/p5.xml", "128 ranks", "1048576", "67108864", "algbw", "busbw",
        "Average bus bandwidth: ", "256 nvlink-4 of 450 GB/s", "Links as rdma: ", "Network model: "}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(run_dadsim(collective("platforms/lab.xml", "send", {"--sizes", "1KB", "--quiet"})).out, "");
}

TEST(CollectiveCommand, WritesFilesWholeAndTheSameEveryTime) {
  const TemporaryFolder folder;
  const std::string a = (folder.path() / "a.json").string();
  const std::string b = (folder.path() / "b.csv").string();
  const Arguments more{"--sizes", "1KB:1MB:8", "--json", a, "--csv", b};
  ASSERT_EQ(run_dadsim(collective("platforms/two-clusters-wan.xml", "all-gather", more)).exit_code, 0);
  const std::string json_text = test::read_file(a);
  const std::string csv = test::read_file(b);
  EXPECT_EQ(json::parse(json_text)["sizes"].size(), 4U);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  ASSERT_EQ(run_dadsim(collective("platforms/two-clusters-wan.xml", "all-gather", more)).exit_code, 0);
  EXPECT_EQ(test::read_file(a), json_text);
  EXPECT_EQ(test::read_file(b), csv);
  EXPECT_EQ(folder.files(), 2U);
}

TEST(CollectiveCommand, AnInterruptLeavesOldFilesAsTheyWere) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.json";
  std::ofstream(path) << "old";
  const Outcome outcome = run_dadsim(
      collective("platforms/dgx-h100-pod.xml", "all-reduce",
                 {"--algorithm", "ring", "--sizes", "1KB:1GB:1.02", "--fidelity", "message", "--json", path}),
      DADSIM_SOURCE_DIR, std::chrono::milliseconds(1500));
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(test::read_file(path), "old");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(CollectiveCommand, PredictedStandsBesideMeasured) {
  const TemporaryFile platform(kRanksStar.xml());
  const TemporaryFolder folder;
  const double n = kRanks;
  const double seconds = 2 * (n - 1) * kRanksStar.between(64 * kKiB / n);
  const std::string heading = "# Collective test starting: all_reduce_perf\n# size count type time algbw busbw error\n";
  const std::string log =
      folder.write("reduce.log", heading + "65536 16384 float " + std::to_string(seconds * 1e6 / 2) + " " +
                                     std::to_string(65536 / (seconds / 2) / 1e9) + " 0.7 0\n");
  const Arguments ring = with_workers({"--algorithm", "ring", "--measured", log});
  const json result = timed(platform.path(), "all-reduce", ring);
  ASSERT_EQ(result["sizes"].size(), 1U);
  expect_time(result, 0, seconds);
  EXPECT_NEAR(result["sizes"][0]["predicted_over_measured"].get<double>(), 2, 1e-6);
  EXPECT_NEAR(result["measured"]["mean_error"].get<double>(), 1, 1e-6);
  const Outcome other = run_dadsim(collective(platform.path(), "all-gather", ring));
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_NE(other.err.find("measures all_reduce_perf; use a log of all_gather_perf"), std::string::npos) << other.err;
}

// Both commands must expect the same times for a log: with a tree between two nodes, rings among four, sockets, PCIe,
// and other operations.
TEST(CollectiveCommand, PredictsWhatDiagnoseExpects) {
  struct Case {
    std::string cluster, device, operation, test;
    int ranks;
  };
  for (const Case& one :
       std::vector<Case>{{R"(nodes="2" gpus="8" inside="nvlink-3" rails="4" nic="ib-hdr")", "a100-sxm4-80",
                          "all-reduce", "all_reduce", 16},
                         {R"(nodes="4" gpus="4" inside="nvlink-4" rails="4" nic="ib-ndr")", "h100-sxm5", "all-reduce",
                          "all_reduce", 16},
                         {R"(nodes="4" gpus="4" inside="nvlink-4" rails="4" nic="ib-ndr")", "h100-sxm5", "all-gather",
                          "all_gather", 16},
                         {R"(nodes="4" gpus="1" nic="ethernet-25g")", "v100-pcie", "all-reduce", "all_reduce", 4},
                         {R"(nodes="2" gpus="4" inside="pcie-3" rails="1" nic="ib-edr")", "v100-pcie", "all-reduce",
                          "all_reduce", 8}}) {
    SCOPED_TRACE(one.cluster + ' ' + one.operation);
    const TemporaryFolder folder;
    const std::string scenario =
        folder.write("s.xml", "<scenario name=\"x\" seed=\"1\"><platform><gpu-cluster " + one.cluster +
                                  "/></platform><workers><worker hosts=\"*\" device=\"" + one.device +
                                  "\"/></workers><timing-only/><timed-as workload=\"resnet-50\" batch=\"32\"/>"
                                  "<run algorithm=\"gradient-sharing\" exchange=\"peer\"/></scenario>");
    std::string log = "# Collective test starting: " + one.test + "_perf\n";
    for (int rank = 0; rank < one.ranks; ++rank)
      log += "# Rank " + std::to_string(rank) + " Group 0 Pid 7 on n device 0\n";
    log += "# size count type redop root time algbw busbw #wrong\n";
    const std::vector<double> sizes{8 << 20, 32 << 20, 128 << 20, 1 << 30};
    for (const double size : sizes) {
      log += std::to_string(std::llround(size)) + " " + std::to_string(std::llround(size / 4)) + " float sum -1 " +
             std::to_string(size / 1e3) + " 1.00 1.00 0\n";
    }
    const std::string measured = folder.write("nccl.log", log);
    const json predicted = timed(scenario, one.operation, {"--measured", measured});
    const Outcome outcome = run_dadsim({"diagnose", scenario, "--log", measured, "--json", "-"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const json diagnosed = json::parse(outcome.out);
    ASSERT_EQ(diagnosed["times"].size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(diagnosed["times"][i]["bytes"], predicted["sizes"][i]["size_bytes"]);
      const double expected = 1e6 * diagnosed["times"][i]["expected"].get<double>();
      EXPECT_NEAR(expected / predicted["sizes"][i]["time_us"].get<double>(), 1, 1e-9) << sizes[i];
      EXPECT_LE(1e6 * diagnosed["times"][i]["low"].get<double>(),
                predicted["sizes"][i]["low_us"].get<double>() * (1 + 1e-9));
      EXPECT_GE(1e6 * diagnosed["times"][i]["high"].get<double>(),
                predicted["sizes"][i]["high_us"].get<double>() * (1 - 1e-9));
    }
  }
}

// Host names with blanks are common in SimGrid platforms, so the remedy must quote them as they can be typed.
TEST(CollectiveCommand, HostsWhoseNamesHoldBlanks) {
  const TemporaryFolder folder;
  const std::string platform =
      folder.write("p.xml", test::platform_xml("<host id=\"Edge 1\" speed=\"1Gf\"/><host id=\"Edge 2\" speed=\"1Gf\"/>"
                                               "<link id=\"line\" bandwidth=\"100Mbps\" latency=\"1ms\"/>"
                                               "<route src=\"Edge 1\" dst=\"Edge 2\"><link_ctn id=\"line\"/></route>"));
  const Outcome split = run_dadsim(collective(platform, "send", {"--sizes", "1KB", "--hosts", "Edge 1"}));
  EXPECT_EQ(split.exit_code, 2);
  EXPECT_NE(split.err.find("put a name with blanks in quotation marks: \"'Edge 1'\""), std::string::npos) << split.err;
  for (const char* hosts :
       {"'Edge 1' 'Edge 2'", "\"Edge 1\" \"Edge 2\"", "Edge\\ 1 Edge\\ 2", "'Edge [1-2]'", "*", "Edge*"}) {
    EXPECT_EQ(timed(platform, "send", {"--sizes", "1KB", "--hosts", hosts})["hosts"], json({"Edge 1", "Edge 2"}))
        << hosts;
  }
  const auto check = [&](const std::string& workers) {
    const std::string scenario = folder.write(
        "s.xml", "<scenario name=\"x\"><platform file=\"p.xml\"/><workers>" + workers +
                     "</workers><data><digits train=\"200\" test=\"50\"/></data><model><dense units=\"10\"/></model>"
                     "<run algorithm=\"gradient-sharing\"/></scenario>");
    return run_dadsim({"--check", scenario});
  };
  const Outcome unquoted = check("<worker hosts=\"Edge 1\" device=\"rtx-3090\"/>");
  EXPECT_EQ(unquoted.exit_code, 3);
  EXPECT_NE(unquoted.err.find("in quotation marks: \"'Edge 1'\""), std::string::npos) << unquoted.err;
  for (const char* workers :
       {"<worker hosts=\"'Edge 1'\" device=\"rtx-3090\"/><worker hosts=\"Edge\\ 2\" device=\"rtx-3090\"/>",
        "<worker hosts=\"*\" device=\"rtx-3090\"/>",
        "<worker hosts=\"'Edge 2'\" device=\"rtx-3090\"/><worker hosts=\"*\" device=\"rtx-3090\"/>",
        "<worker hosts=\"*\" device=\"rtx-3090\"/><aggregator host=\"'Edge 2'\" device=\"rtx-3090\"/>"}) {
    const Outcome outcome = check(workers);
    EXPECT_EQ(outcome.exit_code, 0) << workers << outcome.err;
  }
}

TEST(CollectiveCommand, RoutesThatAreMissingAreToldAndExitWithThree) {
  const TemporaryFile file(test::platform_xml("<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"));
  const Outcome outcome = run_dadsim(collective(file.path(), "send", {"--sizes", "1KB"}));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("no route from 'a' to 'b'"), std::string::npos) << outcome.err;
}

TEST(CollectiveCommand, WrongUseIsToldAndExitsWithTwo) {
  const std::string lab = "platforms/lab.xml";
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"collective"}, "--platform is missing"},
      {{"collective", "--platform", lab}, "--op is missing"},
      {{"collective", lab, "--op", "send"}, "one argument too many"},
      {collective(lab, "allreduce"), "did you mean 'all-reduce'?"},
      {collective(lab, "all-reduce", {"--algorithm", "rign"}), "did you mean 'ring'?"},
      {collective(lab, "all-reduce", {"--algoritm", "ring"}), "did you mean '--algorithm'?"},
      {collective(lab, "all-reduce", {"--algorithm", "hierarchical"}), "needs several nodes"},
      {collective(lab, "all-reduce", {"--algorithm", "torus"}), "use 'ring' for any ranks"},
      {collective(lab, "all-reduce", {"--sizes", "1XB"}), "'1XB' is not a number with a known unit"},
      {collective(lab, "all-reduce", {"--ranks", "5"}), "the platform has 4 hosts"},
      {collective(lab, "all-reduce", {"--ranks", "0"}), "a whole number from 2"},
      {collective(lab, "all-reduce", {"--ranks", "1"}), "a whole number from 2"},
      {collective(lab, "all-reduce", {"--hosts", "gpu-0"}), "--hosts with two or more"},
      {collective(lab, "all-reduce", {"--ranks", "2", "--hosts", "gpu-0"}), "remove one of them"},
      {collective(lab, "all-reduce", {"--hosts", "gpo-1"}), "did you mean 'gpu-1'?"},
      {collective(lab, "all-reduce", {"--hosts", "gpu-1 gpu-1"}), "names 'gpu-1' twice"},
      {collective(lab, "all-reduce", {"--hosts", "gpu-[1"}), "misplaced brackets"},
      {collective(lab, "all-reduce", {"--pairs", "0>1"}), "--pairs has no effect with all-reduce"},
      {collective(lab, "neighbour-exchange"), "needs --pairs"},
      {collective(lab, "send", {"--pairs", "0-1"}), "'0-1' is no pair"},
      {collective(lab, "send", {"--pairs", "0>1,"}), "'' is no pair"},
      {collective(lab, "send", {"--pairs", "1>1"}), "a rank to itself"},
      {collective(lab, "send", {"--pairs", "0>1,0>1"}), "twice"},
      {collective(lab, "send", {"--pairs", "0>4"}), "use ranks from 0 to 3"},
      {collective(lab, "send", {"--root", "1"}), "--root has no effect with send"},
      {collective(lab, "gather", {"--root", "4"}), "use a root from 0 to 3"},
      {collective(lab, "send", {"--fidelity", "flaw"}), "did you mean 'flow'?"},
      {collective(lab, "send", {"--fidelity", "flow", "--cold"}), "--cold cannot be combined with --fidelity flow"},
      {collective(lab, "send", {"--transport", "tcp"}), "use it with files of SimGrid"},
      {collective(lab, "send", {"--json", "x", "--csv", "x"}), "both name 'x'"},
  };
  for (const auto& [arguments, says] : cases) {
    const Outcome outcome = run_dadsim(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << says << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << says << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(run_dadsim(collective(lab, "send", {"--json", "/nowhere/at/all.json"})).exit_code, 4);
  EXPECT_NE(run_dadsim({"collective", "--help"}).out.find("--per-rank"), std::string::npos);
}

TEST(CollectiveCommand, MoreThanCanBeSimulatedIsToldAndExitsWithFive) {
  const Outcome outcome =
      run_dadsim(collective("platforms/fat-tree-1024.xml", "all-to-all", {"--sizes", "1MB", "--fidelity", "message"}));
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("too many to simulate"), std::string::npos) << outcome.err;
}

TEST(CollectiveCommand, SaysNothingOfNcclToTpus) {
  const TemporaryFile file(R"(<cluster-platform><gpu-cluster nodes="6" gpus="1" rails="4" nic="ici-v6e">
      <torus link="ici-v6e" dimensions="3x2"/></gpu-cluster></cluster-platform>)");
  const Outcome outcome = run_dadsim(collective(file.path(), "all-reduce", {"--sizes", "64MB"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" torus "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("over all links of the torus, as in XLA"), std::string::npos) << outcome.out;
  for (const char* word : {"NCCL", "NVIDIA"})
    EXPECT_EQ(outcome.out.find(word), std::string::npos) << word << '\n' << outcome.out;
}

}  // namespace
}  // namespace dadsim::cli
