#include "sim/platform/link_changes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "sim/declared.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::platform_xml;
using test::Script;
using test::Star;
using test::TemporaryFile;

/// Returns a step with 1 MB from worker 0 to the hub and an empty answer: 1 s on a link of 1 MB/s.
schedule::Schedule one_transfer() {
  Script script(1);
  script.gather_and_answer(1e6);
  return script.schedule();
}

step::StepTiming time_with(const std::string& file, std::size_t workers, const schedule::Schedule& schedule,
                           const std::vector<spec::LinkChange>& changes) {
  Cluster cluster = cluster_on(file, workers, schedule.uses_aggregator);
  cluster.changes = changes;
  return time_schedules(cluster, std::vector<schedule::Schedule>{schedule}).steps.at(0);
}

std::string refusal(const std::string& file, const std::vector<spec::LinkChange>& changes) {
  try {
    time_with(file, 1, one_transfer(), changes);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(LinkChanges, TwiceTheBandwidthHalvesTheTransfer) {
  const TemporaryFile file(Star{.workers = 1, .latency = 0}.xml());
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {}).seconds, 1.0, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"up0", 2, 1}}).seconds, 0.5, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"down0", 2, 1}}).seconds, 1.0, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"*", 2, 1}}).seconds, 0.5, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"*", 2, 1}, {"up0", 0.25, 1}}).seconds, 2.0, 1e-12);
}

TEST(LinkChanges, LatencyIsChangedToo) {
  const TemporaryFile file(Star{.workers = 1, .latency = 0.25}.xml());
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {}).seconds, 1.5, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"up0", 1, 4}}).seconds, 2.25, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"*", 1, 0}}).seconds, 1.0, 1e-12);
}

TEST(LinkChanges, AreThePlatformWrittenWithTheChangedNumbers) {
  const Star asked{.workers = 4, .rate = 3e6, .latency = 0.01};
  const Star written{.workers = 4, .rate = 6e6, .latency = 0.005};
  const TemporaryFile as_asked(asked.xml());
  const TemporaryFile as_written(written.xml());
  Script script(4);
  script.compute(0.1).wait(script.all_reduce(123457)).gather_and_answer(7e5);
  const step::StepTiming changed = time_with(as_asked.path(), 4, script.schedule(), {{"*", 2, 0.5}});
  const step::StepTiming direct = time_with(as_written.path(), 4, script.schedule(), {});
  EXPECT_EQ(changed.seconds, direct.seconds);
  EXPECT_EQ(changed.exposed_seconds, direct.exposed_seconds);
  // The factor 1 changes nothing.
  const step::StepTiming same = time_with(as_written.path(), 4, script.schedule(), {{"*", 1, 1}});
  EXPECT_EQ(same.seconds, direct.seconds);
  EXPECT_EQ(same.exposed_seconds, direct.exposed_seconds);
  EXPECT_NE(time_with(as_asked.path(), 4, script.schedule(), {}).seconds, direct.seconds);
}

TEST(LinkChanges, OfAClassConcernAllItsLinksAndNoOther) {
  spec::PlatformSpec platform;
  spec::LinkSpec port = test::line(1e9, 1e-6);
  port.name = "port";
  spec::LinkSpec nic = test::line(1e8, 1e-5);
  nic.name = "nic";
  platform.what = test::cluster_of(2, 2, port, nic);
  const auto seconds = [&](const spec::LinkSpec& fast_port, const spec::LinkSpec& fast_nic,
                           const std::vector<spec::LinkChange>& changes, spec::Fidelity fidelity) {
    spec::PlatformSpec built;
    built.what = test::cluster_of(2, 2, fast_port, fast_nic);
    Cluster cluster = test::workers_on(built, fidelity);
    cluster.changes = changes;
    const std::vector<CollectiveJob> jobs{test::job(step::CollectiveKind::all_reduce, "ring", 1e6)};
    return time_collectives(cluster, jobs).timings.at(0).seconds;
  };
  spec::LinkSpec faster = nic;
  faster.bandwidth *= 40;
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    const double changed = seconds(port, nic, {{"nic", 40, 1}}, fidelity);
    EXPECT_EQ(changed, seconds(port, faster, {}, fidelity));
    EXPECT_LT(changed, seconds(port, nic, {}, fidelity));
    EXPECT_NE(changed, seconds(port, nic, {{"*", 40, 1}}, fidelity));
  }
}

TEST(LinkChanges, ReachBothDirectionsOfAFullDuplexLinkByItsClass) {
  const TemporaryFile file(
      platform_xml("<host id=\"w0\" speed=\"1Gf\"/><host id=\"hub\" speed=\"1Gf\"/>"
                   "<link id=\"line\" bandwidth=\"1MBps\" latency=\"0s\" sharing_policy=\"SPLITDUPLEX\">"
                   "<prop id=\"class\" value=\"copper\"/></link>"
                   "<route src=\"w0\" dst=\"hub\"><link_ctn id=\"line\" direction=\"UP\"/></route>"));
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"copper", 4, 1}}).seconds, 0.25, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"line_UP", 4, 1}}).seconds, 0.25, 1e-12);
  EXPECT_NEAR(time_with(file.path(), 1, one_transfer(), {{"line_DOWN", 4, 1}}).seconds, 1.0, 1e-12);
}

TEST(LinkChanges, ProfilesAreRelativeToTheChangedNumbers) {
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(1, 2, test::line(1e6, 0), test::line(1e6, 0));
  platform.profiles = {{spec::PlatformSpec::Profile::Of::bandwidth, "*", {0, 1}, {0.5, 0.25}, 0}};
  Cluster cluster = test::workers_on(platform, spec::Fidelity::message);
  const auto seconds = [&] {
    const std::vector<CollectiveJob> jobs{test::job(step::CollectiveKind::all_to_all, "direct", 1e6)};
    return time_collectives(cluster, jobs).timings.at(0).cold_seconds;
  };
  EXPECT_NEAR(seconds(), 1 + 0.5e6 / 0.25e6, 1e-6);
  cluster.changes = {{"line", 1.5, 1}};
  EXPECT_NEAR(seconds(), 1 + 0.25e6 / 0.375e6, 1e-6);
}

TEST(LinkChanges, ThatCannotBeAreRefused) {
  const TemporaryFile file(Star{.workers = 1}.xml());
  const auto expect_words = [](const std::string& words, const std::string& part) {
    EXPECT_NE(words.find(part), std::string::npos) << words;
  };
  expect_words(refusal(file.path(), {{"up1", 2, 1}}), "there is no link and no class of links 'up1' to change");
  expect_words(refusal(file.path(), {{"up1", 2, 1}}), "did you mean 'up0'");
  expect_words(refusal(file.path(), {{"__loopback__", 2, 1}}), "there is no link");
  expect_words(refusal(file.path(), {{"up0", 0, 1}}), "bandwidth of the link 'up0' cannot be multiplied by 0");
  expect_words(refusal(file.path(), {{"up0", 1, -1}}), "latency of the link 'up0' cannot be multiplied by -1");
  expect_words(refusal(file.path(), {{"up0", std::numeric_limits<double>::quiet_NaN(), 1}}), "cannot be multiplied");
  const TemporaryFile profile("0 1000000\n1 500000\nLOOPAFTER 1000\n", ".bw");
  const TemporaryFile varies(
      platform_xml("<host id=\"w0\" speed=\"1Gf\"/><host id=\"hub\" speed=\"1Gf\"/><link id=\"l\" bandwidth=\"1MBps\" "
                   "latency=\"0s\" bandwidth_file=\"" +
                   std::filesystem::path(profile.path()).filename().string() +
                   "\"/><route src=\"w0\" dst=\"hub\"><link_ctn id=\"l\"/></route>"));
  EXPECT_EQ(refusal(varies.path(), {}), "nothing");
  EXPECT_EQ(refusal(varies.path(), {{"l", 1, 1}}), "nothing");
  expect_words(refusal(varies.path(), {{"l", 2, 1}}), "has profiles, which hold absolute numbers");
}

}  // namespace
}  // namespace dadsim::sim
