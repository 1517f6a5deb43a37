// Tests how a run passes through outages; the test itself gives the times of steps.
#include "study/absence/absence_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace dadsim::study {
namespace {

using Does = spec::AbsenceSpec::Does;

constexpr double kStep = 2;         // seconds
constexpr double kBytes = 100;      // bytes that a site sends per step, and receives
constexpr double kModelBytes = 40;  // bytes of the model that a site receives
constexpr double kModelSeconds = 0.5;

/// Three sites and an aggregator.
struct Cluster {
  explicit Cluster(spec::FailureSpec what, std::uint64_t seed = 1) {
    outages.what = std::move(what);
    outages.hosts = {"a", "b", "c", "hub"};
    outages.seed = seed;
  }
  AbsenceClock::AbsenceSetting setting(spec::AbsenceSpec absence) const {
    AbsenceClock::AbsenceSetting setting;
    setting.absence = absence;
    setting.sites = 3;
    setting.site_of = {0, 1, 2, 3};
    setting.server = true;
    setting.names = outages.hosts;
    setting.seed = outages.seed;
    setting.hand_over = [](std::int32_t from, const std::vector<std::int32_t>& to, double) {
      step::StepTiming timing = nothing();
      timing.seconds = kModelSeconds;
      for (const std::int32_t site : to) timing.bytes_received[static_cast<std::size_t>(site)] = kModelBytes;
      timing.bytes_sent[from < 0 ? 3 : static_cast<std::size_t>(from)] = kModelBytes * static_cast<double>(to.size());
      return timing;
    };
    return setting;
  }
  static step::StepTiming nothing() {
    step::StepTiming timing;
    timing.bytes_sent.assign(4, 0);
    timing.bytes_received.assign(4, 0);
    timing.busy_seconds.assign(4, 0);
    return timing;
  }
  static step::StepTiming step_of(const std::vector<std::int32_t>& sites) {
    step::StepTiming timing = nothing();
    timing.seconds = kStep;
    timing.compute_seconds = 1;
    for (const std::int32_t site : sites) {
      timing.bytes_sent[static_cast<std::size_t>(site)] = timing.bytes_received[static_cast<std::size_t>(site)] =
          kBytes;
      timing.busy_seconds[static_cast<std::size_t>(site)] = 1;
    }
    timing.bytes_sent[3] = timing.bytes_received[3] = kBytes * static_cast<double>(sites.size());
    return timing;
  }
  world::Outages outages;
};

struct Walked {
  std::vector<std::vector<std::int32_t>> who;
  std::vector<step::StepTiming> steps;
  report::EventDrivenResult counted;
};

Walked walk(const Cluster& cluster, const AbsenceClock::AbsenceSetting& setting, int steps) {
  world::OutageCalendar calendar(cluster.outages);
  AbsenceClock clock(setting, calendar, Connectivity(3));
  const std::vector<std::int64_t> rows = {2, 5, 11};
  Walked walked;
  for (int step = 0; step < steps; ++step) {
    walked.who.push_back(clock.next(step, rows).sites);
    walked.steps.push_back(clock.took(walked.who.back(), rows, Cluster::step_of(walked.who.back())));
  }
  walked.counted = clock.result({"a", "b", "c", "hub"});
  return walked;
}

double seconds_of(const Walked& walked) {
  return std::accumulate(walked.steps.begin(), walked.steps.end(), 0.0,
                         [](double sum, const step::StepTiming& step) { return sum + step.seconds; });
}

const std::vector<std::int32_t> kAll = {0, 1, 2};

spec::FailureSpec outage_of(const char* host, double from, double seconds) {
  spec::FailureSpec what;
  what.outages.push_back({.links = false, .match = host, .from = from, .seconds = seconds});
  return what;
}

TEST(AbsenceClock, WaitsForWhoIsAwayAndTakesTheStepThatWasBrokenOffAgain) {
  // The first two steps end at 2 and 4 s. Site b goes down one second into the third step, for ten seconds.
  const Cluster cluster(outage_of("b", 5, 10));
  const Walked walked = walk(cluster, cluster.setting({.does = Does::wait}), 4);
  for (const auto& who : walked.who) EXPECT_EQ(who, kAll);
  // The third step takes one wasted second, ten seconds of waiting, sending the model to b, and the step itself.
  EXPECT_DOUBLE_EQ(walked.steps[2].seconds, 1 + 10 + kModelSeconds + kStep);
  EXPECT_DOUBLE_EQ(seconds_of(walked), 4 * kStep + 11 + kModelSeconds);
  EXPECT_DOUBLE_EQ(walked.counted.log.seconds, seconds_of(walked));
  EXPECT_EQ(walked.counted.participation.failed, 3) << "what all three had begun";
  EXPECT_EQ(walked.counted.participation.answered, 12);
  EXPECT_EQ(walked.counted.outages(), 1);
  EXPECT_DOUBLE_EQ(walked.counted.down_seconds(), 10);
  EXPECT_DOUBLE_EQ(walked.counted.bytes_lost(), 0.5 * 6 * kBytes) << "half of what a step sends";
  EXPECT_DOUBLE_EQ(walked.counted.participation.facts.at("bytes of models that sites were handed"), kModelBytes);
}

// If the time of the first step is known in advance, an outage can break it off too; its wasted work is counted.
TEST(AbsenceClock, AnOutageBreaksTheFirstStepOff) {
  const Cluster cluster(outage_of("b", 0.5, 10));
  AbsenceClock::AbsenceSetting setting = cluster.setting({.does = Does::wait});
  setting.foresee = [](std::int64_t, const std::vector<std::int32_t>& sites, double) {
    return std::optional(Cluster::step_of(sites));
  };
  const Walked walked = walk(cluster, setting, 2);
  EXPECT_DOUBLE_EQ(walked.steps[0].seconds, 0.5 + 10 + kModelSeconds + kStep);
  EXPECT_DOUBLE_EQ(walked.counted.bytes_lost(), 0.25 * 6 * kBytes) << "a quarter of what a step sends";
  EXPECT_DOUBLE_EQ(walked.counted.busy_seconds(), 3 * (0.25 + 2));
  // If site b leaves for good, no step is taken, and all work until then is counted.
  const Cluster gone(outage_of("b", 0.5, spec::kForever));
  world::OutageCalendar calendar(gone.outages);
  AbsenceClock clock(setting, calendar, Connectivity(3));
  EXPECT_THROW(clock.next(0, {2, 5, 11}), NobodyComes);
  const report::EventDrivenResult counted = clock.result({"a", "b", "c", "hub"});
  EXPECT_DOUBLE_EQ(counted.log.seconds, 0.5);
  EXPECT_EQ(counted.participation.updates, 0);
  EXPECT_DOUBLE_EQ(counted.busy_seconds(), 3 * 0.25);
  EXPECT_DOUBLE_EQ(counted.idle_seconds(), 3 * 0.5 - 3 * 0.25 - counted.down_seconds());
}

// Steps take longer than foreseen here. Such a step still counts, and an outage during the overrun begins after it. No
// site is ever busy and down at once.
TEST(AbsenceClock, NobodyIsBusyAndDownAtOnce) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    spec::FailureSpec what;
    what.random.push_back({.links = false, .match = "*", .mean_up = 5, .shape = 0.8, .mean_down = 3});
    const Cluster cluster(what, seed);
    world::OutageCalendar calendar(cluster.outages);
    AbsenceClock::AbsenceSetting setting = cluster.setting({.does = Does::without});
    setting.server = false;
    setting.names.resize(3);
    AbsenceClock clock(setting, calendar, Connectivity(3));
    const std::vector<std::int64_t> rows = {2, 5, 11};
    for (int step = 0; step < 20; ++step) {
      const std::vector<std::int32_t> who = clock.next(step, rows).sites;
      step::StepTiming timing = Cluster::step_of(who);
      timing.seconds *= 1 + step % 4;
      for (double& busy : timing.busy_seconds) busy *= 2 * (1 + step % 4);  // makes sites busy for the whole step
      clock.took(who, rows, timing);
    }
    const report::EventDrivenResult counted = clock.result({"a", "b", "c", "hub"});
    for (std::size_t site = 0; site < 3; ++site) {
      const step::EventLog::NodeUse& use = counted.log.nodes[site];
      EXPECT_LE(use.busy + use.down, counted.log.seconds * (1 + 1e-9)) << seed << ", site " << site;
    }
  }
}

// A site's busy time is the mean over its devices. A site is down while one of its devices is.
TEST(AbsenceClock, ASiteOfSeveralDevicesIsOne) {
  Cluster cluster(outage_of("b", 1, 2));
  cluster.outages.what.outages.push_back({.links = false, .match = "a", .from = 2, .seconds = 3});
  AbsenceLog log(1, {0, 0});
  step::StepTiming timing;
  timing.seconds = 10;
  timing.busy_seconds = {4, 6};
  timing.bytes_sent = {3, 1};
  timing.bytes_received = {1, 3};
  log.step({0}, {8}, timing, 10);
  cluster.outages.hosts = {"a", "b"};
  world::OutageCalendar calendar(cluster.outages);
  while (calendar.next_change() < 20) calendar.take_next_change();
  const report::EventDrivenResult counted = log.result(20, calendar, {"a"});
  EXPECT_DOUBLE_EQ(counted.busy_seconds(), 5);
  EXPECT_DOUBLE_EQ(counted.down_seconds(), 4) << "from 1 to 5";
  EXPECT_EQ(counted.outages(), 1);
  EXPECT_DOUBLE_EQ(counted.bytes_sent(), 4);
}

// The privacy budget limits the steps that a site has begun, including steps that were broken off.
TEST(AbsenceClock, EndsOnceASiteHasBegunAsManyStepsAsItMay) {
  // The third step is broken off one second after its start, and b is away for ten seconds.
  const Cluster cluster(outage_of("b", 5, 10));
  world::OutageCalendar calendar(cluster.outages);
  AbsenceClock clock(cluster.setting({.does = Does::without}), calendar, Connectivity(3));
  clock.limit_begun(6);
  const std::vector<std::int64_t> rows = {2, 5, 11};
  std::vector<std::int64_t> taken(3, 0);
  for (;;) {
    const std::vector<std::int32_t> who = clock.next(0, rows).sites;
    if (who.empty()) break;
    for (const std::int32_t site : who) ++taken[static_cast<std::size_t>(site)];
    clock.took(who, rows, Cluster::step_of(who));
  }
  EXPECT_EQ(clock.begun(), (std::vector<std::int64_t>{6, 3, 6}));
  EXPECT_EQ(taken, (std::vector<std::int64_t>{5, 2, 5})) << "all three had begun the one that came to nothing";
}

TEST(AbsenceClock, GoesOnWithoutAndHandsTheModelToWhoIsBack) {
  const Cluster cluster(outage_of("b", 5, 10));
  const Walked walked = walk(cluster, cluster.setting({.does = Does::without}), 8);
  const std::vector<std::int32_t> without = {0, 2};
  EXPECT_EQ(walked.who,
            (std::vector<std::vector<std::int32_t>>{kAll, kAll, without, without, without, without, without, kAll}));
  // The third step is broken off at 5 s. Five steps of two seconds follow without b, which returns at 15 s.
  EXPECT_DOUBLE_EQ(walked.steps[2].seconds, 1 + kStep);
  EXPECT_DOUBLE_EQ(walked.steps[6].seconds, kStep);
  EXPECT_DOUBLE_EQ(walked.steps[7].seconds, kModelSeconds + kStep);
  EXPECT_EQ(walked.counted.participation.took_part, (std::vector<std::int64_t>{8, 3, 8}));
  EXPECT_EQ(walked.counted.participation.samples, 8 * (2 + 11) + 3 * 5);
}

TEST(AbsenceClock, RetriesAsLongAsItHasPatienceAndThenGoesOnWithout) {
  const Cluster cluster(outage_of("b", 5, 10));
  const Walked walked = walk(cluster, cluster.setting({.does = Does::retry, .patience = 4}), 4);
  // The third step is broken off at 5 s and retried after 1 s and again after 2 s. Patience ends 4 s after the step's
  // start, and the run goes on without b.
  EXPECT_DOUBLE_EQ(walked.steps[2].seconds, 4 + kStep);
  EXPECT_EQ(walked.who[2], (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(walked.counted.participation.retried, 2 + 3) << "of the third step, and of the fourth until 14";
  const Walked patient = walk(cluster, cluster.setting({.does = Does::retry, .patience = 40}), 4);
  EXPECT_EQ(patient.who[2], kAll);
}

TEST(AbsenceClock, RestartsFromTheLastCheckpoint) {
  const Cluster cluster(outage_of("b", 9, 1));
  AbsenceClock::AbsenceSetting setting = cluster.setting({.does = Does::restart});
  setting.checkpoints = {.every = 3, .write = 0.25, .restore = 0.5};
  const Walked walked = walk(cluster, setting, 6);
  // A checkpoint follows the third step, at 6.25 s. The fourth step ends at 8.25 s, and the outage at 9 s breaks the
  // fifth off. From 10 s on, the site reads the checkpoint and repeats both steps. The next checkpoint is due after the
  // sixth step.
  EXPECT_DOUBLE_EQ(walked.steps[2].seconds, kStep + 0.25);
  EXPECT_DOUBLE_EQ(walked.steps[4].seconds, 0.75 + 1 + 0.5 + kStep + kStep);
  EXPECT_EQ(walked.counted.restored(), 1);
  EXPECT_DOUBLE_EQ(walked.counted.lost_work(), kStep);
  EXPECT_DOUBLE_EQ(walked.counted.log.seconds, seconds_of(walked));
  EXPECT_EQ(walked.counted.participation.facts.count("bytes of models that sites were handed"), 0U);
}

TEST(AbsenceClock, SaysWhoWillNotCome) {
  const Cluster cluster(outage_of("b", 5, spec::kForever));
  EXPECT_NO_THROW(walk(cluster, cluster.setting({.does = Does::without}), 20));
  try {
    walk(cluster, cluster.setting({.does = Does::wait}), 20);
    FAIL() << "it waited for b";
  } catch (const NobodyComes& stuck) {
    EXPECT_NE(std::string(stuck.what()).find("b will not come back"), std::string::npos) << stuck.what();
  }
}

TEST(AbsenceClock, NobodyIsWaitedForWhoIsGone) {
  spec::FailureSpec what = outage_of("b", 5, spec::kForever);
  what.random.push_back({.links = false, .match = "a", .mean_up = 0.9, .shape = 1, .mean_down = 0.3});
  const Cluster cluster(what);
  try {
    walk(cluster, cluster.setting({.does = Does::wait}), 20);
    FAIL() << "it waited for b";
  } catch (const NobodyComes& stuck) {
    EXPECT_NE(std::string(stuck.what()).find("will not come back"), std::string::npos) << stuck.what();
  }
}

TEST(AbsenceClock, OutagesThatComeMoreOftenThanAStepLastsAreSaid) {
  spec::FailureSpec what;
  what.random.push_back({.links = false, .match = "*", .mean_up = 0.01, .shape = 1, .mean_down = 0.01});
  const Cluster cluster(what);
  EXPECT_THROW(walk(cluster, cluster.setting({.does = Does::without}), 200), NobodyComes);
}

TEST(AbsenceClock, AmongPeersAModelIsHadFromAnotherSite) {
  Cluster cluster(outage_of("a", 3, 4));
  AbsenceClock::AbsenceSetting setting = cluster.setting({.does = Does::without});
  setting.server = false;
  const Walked walked = walk(cluster, setting, 5);
  // Site b sends five steps, half of the step that was broken off, and the model for site a.
  EXPECT_DOUBLE_EQ(walked.counted.log.nodes[1].sent, 5 * kBytes + 0.5 * kBytes + kModelBytes);
}

// Under drawn outages, bytes sent equal bytes received plus lost, dates add up, and every contribution is counted.
TEST(AbsenceClock, EverythingBalancesInDrawnOutages) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    spec::FailureSpec what;
    what.random.push_back({.links = false, .match = "*", .mean_up = 11, .shape = 0.8, .mean_down = 3});
    what.availability.push_back({.hosts = "b", .drop_out = 0.1, .returns = 4});
    if (seed % 3 == 0) what.outages.push_back({.links = false, .match = "c", .from = 0, .seconds = 7});
    const Cluster cluster(what, seed);
    for (const Does does : {Does::wait, Does::without, Does::retry, Does::restart}) {
      AbsenceClock::AbsenceSetting setting = cluster.setting({.does = does, .patience = 3});
      setting.server = seed % 2 == 0;
      setting.checkpoints = {.every = 3, .write = 0.25, .restore = 0.5};
      if (seed % 5 == 0 && does == Does::without) setting.chances = {0.5, 1, 0.2};
      const Walked walked = walk(cluster, setting, 30);
      const report::EventDrivenResult& counted = walked.counted;
      const double sent = counted.bytes_sent();
      EXPECT_NEAR(sent, counted.bytes_received() + counted.bytes_lost(), 1e-9 * sent) << seed << to_string(does);
      double of_steps = 0;
      for (const step::StepTiming& step : walked.steps) {
        of_steps += std::accumulate(step.bytes_sent.begin(), step.bytes_sent.end(), 0.0);
      }
      EXPECT_NEAR(sent, of_steps, 1e-9 * sent) << seed << to_string(does);
      EXPECT_NEAR(counted.log.seconds, seconds_of(walked), 1e-9 * counted.log.seconds) << seed << to_string(does);
      EXPECT_EQ(counted.participation.asked,
                counted.participation.answered + counted.participation.late + counted.participation.failed);
      EXPECT_EQ(counted.participation.updates, 30);
      EXPECT_LE(counted.busy_seconds() + counted.down_seconds(), 3 * counted.log.seconds * (1 + 1e-9))
          << seed << to_string(does);
    }
  }
}

// A site that is drawn per step takes part as often as its probability says.
TEST(AbsenceClock, SitesAreThereInAsManyStepsAsTheirChanceSays) {
  const Cluster cluster{spec::FailureSpec{}};
  AbsenceClock::AbsenceSetting setting =
      cluster.setting({.does = Does::without, .estimate = spec::AbsenceSpec::Estimate::unbiased});
  setting.chances = {0.5, 0.25, 0.1};
  setting.has_dates = false;
  world::OutageCalendar calendar(cluster.outages);
  AbsenceClock clock(setting, calendar, Connectivity(3));
  const std::vector<std::int64_t> rows = {2, 5, 11};
  constexpr int kSteps = 20'000;
  std::vector<double> weighed(3, 0);
  for (int step = 0; step < kSteps; ++step) {
    const algorithms::Attendance::Present present = clock.next(step, rows);
    for (std::size_t i = 0; i < present.sites.size(); ++i) {
      weighed[static_cast<std::size_t>(present.sites[i])] += 1 / present.chances[i];
    }
    clock.took(present.sites, rows, Cluster::step_of(present.sites));
  }
  // Over the steps of a site, 1/π has a mean of 1 and a standard deviation of √((1 − π) / (π n)). π is the site's
  // probability, given that some site is present.
  const double some = 1 - 0.5 * 0.75 * 0.9;
  for (std::size_t site = 0; site < 3; ++site) {
    const double chance = setting.chances[site] / some;
    EXPECT_NEAR(weighed[site] / kSteps, 1, 4 * std::sqrt((1 - chance) / (chance * kSteps))) << site;
  }
}

}  // namespace
}  // namespace dadsim::study
