#include "sim/step/fidelity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/star.hpp"

// Tests the choice between messages and flow, made and reported before the simulation.

namespace dadsim::sim {
namespace {

using step::CollectiveKind;

MessageEffort effort_of_one(const collectives::Rounds& rounds, double times = 1) {
  MessageEffortCount count(static_cast<std::size_t>(rounds.ranks()));
  count.add(rounds, {}, times);
  return count.effort();
}

std::unique_ptr<collectives::Rounds> rounds_of(CollectiveKind kind, const std::string& algorithm, std::int32_t ranks) {
  collectives::CollectiveRequest request;
  request.kind = kind;
  request.bytes = {1e6};
  collectives::RankLayout layout;
  for (std::int32_t rank = 0; rank < ranks; ++rank) layout.node_of.push_back(rank);
  return lay_out(request, algorithm, layout);
}

TEST(MessageEffort, CountsMessagesPairsAndRanks) {
  const MessageEffort ring = effort_of_one(*rounds_of(CollectiveKind::all_reduce, "ring", 100));
  EXPECT_EQ(ring.messages, 2 * 99 * 100);
  EXPECT_EQ(ring.actors, 100U + 100U);
  EXPECT_NEAR(ring.seconds, ring.messages * 6.1e-6 + 200 * 2e-5, 0.01 * ring.seconds);
  const MessageEffort direct = effort_of_one(*rounds_of(CollectiveKind::all_to_all, "direct", 20));
  EXPECT_EQ(direct.messages, 20 * 19);
  EXPECT_EQ(direct.actors, 20U + 20U * 19U);
  EXPECT_FALSE(effort_of_one(*rounds_of(CollectiveKind::all_to_all, "direct", 200)).fits());
}

TEST(MessageEffort, OfManyAtOneLinkGrowsWithTheirSquare) {
  const auto gathered = [](std::int32_t ranks) {
    return effort_of_one(*rounds_of(CollectiveKind::gather, "flat", ranks)).seconds;
  };
  EXPECT_LT(gathered(100), 0.01);
  EXPECT_GT(gathered(10'000) / gathered(1'000), 50);
  EXPECT_GT(gathered(10'000), 5);
}

TEST(MessageEffort, OfTenThousandSitesAtAnAggregatorStillFits) {
  MessageEffortCount count(10'001);
  collectives::CollectiveRequest request;
  request.bytes = {1e6};
  collectives::RankLayout layout;
  for (std::int32_t rank = 0; rank <= 10'000; ++rank) layout.node_of.push_back(rank);
  request.root = 10'000;
  for (const CollectiveKind kind : {CollectiveKind::gather, CollectiveKind::broadcast}) {
    request.kind = kind;
    count.add(*lay_out(request, "flat", layout), {}, 1);
  }
  EXPECT_EQ(count.effort().pairs, 20'000U);
  EXPECT_TRUE(count.effort().fits());
  EXPECT_GT(count.effort().seconds, 20) << "but not in little time";
}

TEST(MessageEffort, IsNoMoreThanOfAsManyBetweenAll) {
  for (const std::int32_t ranks : {2, 8, 50}) {
    for (const auto& [kind, algorithm] : {std::pair{CollectiveKind::all_reduce, "ring"},
                                          {CollectiveKind::all_to_all, "direct"},
                                          {CollectiveKind::gather, "flat"}}) {
      const MessageEffort effort = effort_of_one(*rounds_of(kind, algorithm, ranks), 7);
      const MessageEffort most = most_effort(effort.messages, static_cast<std::size_t>(ranks));
      EXPECT_LE(effort.seconds, most.seconds) << algorithm << " of " << ranks;
      EXPECT_LE(effort.actors, most.actors) << algorithm << " of " << ranks;
    }
  }
}

TEST(MessageEffort, OfASchedulesCollectivesIsThatOfEach) {
  test::Script script(50, false);
  for (int i = 0; i < 3; ++i) script.wait(script.all_reduce(1e6));
  script.wait(script.all_reduce(2e6));
  collectives::RankLayout layout;
  for (std::int32_t rank = 0; rank < 50; ++rank) layout.node_of.push_back(rank);
  const std::vector<schedule::Schedule> schedules{script.schedule(), script.schedule()};
  const std::vector<double> times{1, 2};
  const MessageEffort effort = effort_of(schedules, times, layout);
  EXPECT_EQ(effort.messages, 3 * 4 * 2 * 49 * 50);
  EXPECT_EQ(effort.actors, 50U + 50U);
}

Cluster of_fidelity(spec::Fidelity fidelity) {
  Cluster cluster;
  cluster.hosts.resize(1000);  // so many hosts that the cost of messages depends on who communicates
  cluster.network.fidelity = fidelity;
  return cluster;
}

std::string why_not(const Cluster& cluster, const MessageEffort& effort, const std::string& refusal) {
  try {
    FidelityChoice choice(
        cluster, effort.messages, [&] { return effort; }, 1);
    if (refusal.empty() && choice.by_flow()) {
      choice.timed_by_flow();
    } else {
      choice.refuse(refusal, true);
    }
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(FidelityChoice, LeftToItselfItGoesByTimeUnlessABudgetIsSaid) {
  Cluster cluster = of_fidelity(spec::Fidelity::automatic);
  const auto by_flow = [&](double seconds, std::size_t actors) {
    return FidelityChoice(
               cluster, 1000,
               [&] {
                 return MessageEffort{1000, seconds, actors};
               },
               1)
        .by_flow();
  };
  EXPECT_FALSE(by_flow(0.9, 100));
  EXPECT_TRUE(by_flow(1.1, 100));
  EXPECT_TRUE(by_flow(0.9, MessageEffort::kMostActors + 1));
  cluster.network.message_budget = 1000;
  EXPECT_FALSE(by_flow(1.1, 100));
  EXPECT_TRUE(by_flow(0.9, MessageEffort::kMostActors + 1)) << "which no budget helps";
  cluster.network.message_budget = 999;
  EXPECT_TRUE(by_flow(0.9, 100));
}

TEST(FidelityChoice, SaysWhatItWentBy) {
  using Notes = std::vector<Statement>;
  step::NetworkUse use;
  FidelityChoice(
      of_fidelity(spec::Fidelity::automatic), 1000,
      [] {
        return MessageEffort{1000, 7, 9};
      },
      1)
      .describe(use);
  EXPECT_EQ(use.fidelity, "flow");
  EXPECT_EQ(use.fidelity_notes, (Notes{Statement{"flow-by-effort"}.with("messages", 1000.0).with("seconds", 7.0)}));
  FidelityChoice(
      of_fidelity(spec::Fidelity::automatic), 3e6,
      [] {
        return MessageEffort{3e6, 12, 9};
      },
      1)
      .describe(use);
  EXPECT_EQ(use.fidelity_notes, (Notes{Statement{"flow-by-budget"}.with("messages", 3e6)}));
  FidelityChoice(
      of_fidelity(spec::Fidelity::flow), 1000,
      [] {
        return MessageEffort{1000, 7, 9};
      },
      1)
      .describe(use);
  EXPECT_EQ(use.fidelity_notes, Notes());
}

TEST(FidelityChoice, WhatNeitherCanSimulateIsRefusedWithBothReasons) {
  const MessageEffort many{1000, 1, MessageEffort::kMostActors + 1};
  for (const spec::Fidelity fidelity : {spec::Fidelity::automatic, spec::Fidelity::flow}) {
    const std::string why = why_not(of_fidelity(fidelity), many, "ranks get out of step");
    EXPECT_NE(why.find("pairs of ranks"), std::string::npos) << why;
    EXPECT_NE(why.find("flow does not apply: ranks get out of step"), std::string::npos) << why;
    EXPECT_NE(why.find("closed-form"), std::string::npos) << why;
    EXPECT_EQ(why.find("fidelity=\"flow\""), std::string::npos) << "which was tried: " << why;
  }
  EXPECT_EQ(why_not(of_fidelity(spec::Fidelity::automatic), {1000, 1, 9}, "ranks get out of step"), "");
  const std::string asked = why_not(of_fidelity(spec::Fidelity::message), many, "");
  EXPECT_NE(asked.find("use fidelity=\"flow\""), std::string::npos) << asked;
  Cluster waits = of_fidelity(spec::Fidelity::flow);
  waits.network.rendezvous = true;
  const std::string both = why_not(waits, many, "");
  EXPECT_NE(both.find("rendezvous"), std::string::npos) << both;
  EXPECT_EQ(both.find("closed-form"), std::string::npos) << "which it would refuse too: " << both;
}

TEST(FidelityChoice, WhatItAdvisesIsNotRefusedForTheSameReason) {
  const MessageEffort many{1000, 1, MessageEffort::kMostActors + 1};
  Cluster waits = of_fidelity(spec::Fidelity::message);
  EXPECT_NE(why_not(waits, many, "").find("use fidelity=\"flow\" or fewer workers"), std::string::npos);
  waits.network.rendezvous = true;
  const std::string asked = why_not(waits, many, "");
  EXPECT_NE(asked.find("use fewer workers"), std::string::npos) << asked;
  EXPECT_EQ(asked.find("flow"), std::string::npos) << "which would be refused: " << asked;
  const std::string neither = why_not(of_fidelity(spec::Fidelity::message), many, "ranks get out of step");
  EXPECT_EQ(neither.find("\"flow\""), std::string::npos) << "which was tried: " << neither;
  EXPECT_NE(neither.find("closed-form"), std::string::npos) << neither;
  const std::string refused = why_not(of_fidelity(spec::Fidelity::flow), many, "ranks get out of step");
  EXPECT_EQ(refused.find("ring"), std::string::npos) << "which may be refused: " << refused;
  waits.network.fidelity = spec::Fidelity::flow;
  EXPECT_NE(why_not(waits, many, "").find("use fewer workers"), std::string::npos);
}

TEST(FidelityChoice, MessagesThatTakeLongHaveToBeAskedForWhereFlowRefuses) {
  const MessageEffort slow{1e6, 195, 9};
  for (const spec::Fidelity fidelity : {spec::Fidelity::automatic, spec::Fidelity::flow, spec::Fidelity::closed_form}) {
    const std::string why = why_not(of_fidelity(fidelity), slow, "ranks get out of step");
    EXPECT_NE(
        why.find("would take about 2e+02 s to simulate one by one, and flow does not apply: ranks get out of step; use "
                 "fidelity=\"message\" to wait for them, fidelity=\"closed-form\" for a first estimate"),
        std::string::npos)
        << why;
  }
  EXPECT_EQ(why_not(of_fidelity(spec::Fidelity::message), slow, "ranks get out of step"), "") << "as it advises";
  Cluster patient = of_fidelity(spec::Fidelity::automatic);
  patient.network.message_budget = 999;
  EXPECT_EQ(why_not(patient, slow, "ranks get out of step"), "") << "who says how many messages there may be waits too";
  EXPECT_EQ(why_not(of_fidelity(spec::Fidelity::automatic), {1e6, 19, 9}, "ranks get out of step"), "");
}

TEST(FidelityChoice, StepsDuringWhichLinksChangeAreLeftToMessagesWhereTheseAreQuick) {
  const auto taken = [](double seconds, double share) {
    FidelityChoice choice(
        of_fidelity(spec::Fidelity::automatic), 1e6,
        [&] {
          return MessageEffort{1e6, seconds, 9};
        },
        1);
    if (!choice.may_change(share)) return std::string("refused");
    step::NetworkUse use;
    choice.describe(use);
    return use.fidelity_notes.back().kind;
  };
  EXPECT_EQ(taken(10, 0.02), "refused");
  EXPECT_EQ(taken(30, 0.02), "changes-by-flow");
  EXPECT_EQ(taken(10, 0.0005), "flow-by-budget");
}

TEST(FidelityChoice, LateRanksAreLeftToMessagesWhereTheseAreQuick) {
  const auto taken = [](double seconds, double share, bool shared = false) {
    FidelityChoice choice(
        of_fidelity(spec::Fidelity::flow), 1e6,
        [&] {
          return MessageEffort{1e6, seconds, 9};
        },
        1);
    if (!(shared ? choice.may_share_links(share) : choice.may_enter_late(share))) return std::string("refused");
    step::NetworkUse use;
    choice.describe(use);
    return test::notes_of(use);
  };
  EXPECT_EQ(taken(10, 0.02), "refused");
  EXPECT_EQ(taken(30, 0.02), "late-ranks-by-flow");
  EXPECT_EQ(taken(10, 0.005), "late-ranks-by-flow");
  EXPECT_EQ(taken(10, 0.0005), "");
  // Times of collectives on shared links are less certain, so the limit on their share is lower.
  EXPECT_EQ(taken(10, 0.006, true), "refused");
  EXPECT_EQ(taken(30, 0.006, true), "late-ranks-by-flow");
  EXPECT_EQ(taken(10, 0.004, true), "late-ranks-by-flow");
}

TEST(FidelityChoice, ForASearchFlowIsNeverLeft) {
  // A run would switch to messages, which are quick here. A search stays with flow and reports its possible error.
  Cluster cluster = of_fidelity(spec::Fidelity::flow);
  const auto choice = [&] {
    return FidelityChoice(
        cluster, 1000,
        [] {
          return MessageEffort{1000, 0.01, 9};
        },
        1);
  };
  EXPECT_FALSE(choice().may_enter_late(0.3));
  EXPECT_FALSE(choice().may_overlook(0.3));
  EXPECT_NO_THROW(choice().refuse("ranks get out of step", true));
  cluster.flow_alone = true;
  FidelityChoice alone = choice();
  EXPECT_TRUE(alone.may_share_links(0.3));
  EXPECT_TRUE(alone.may_overlook(0.3));
  step::NetworkUse use;
  alone.describe(use);
  EXPECT_EQ(use.fidelity, "flow");
  EXPECT_EQ(test::notes_of(use), "late-ranks-by-flow");
  EXPECT_THROW(choice().refuse("ranks get out of step", true), std::runtime_error);
}

TEST(FidelityChoice, ACollectiveThatWouldTakeLongIsTimedByFlow) {
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(32, 8, test::line(450e9, 5e-7, spec::Transport::nvlink, 0.8),
                                   test::line(50e9, 1e-6, spec::Transport::rdma, 0.9));
  const Cluster cluster = test::workers_on(platform, spec::Fidelity::automatic);
  const std::vector<CollectiveJob> jobs{test::job(CollectiveKind::all_reduce, "ring", 1e8)};
  const TimedCollectives timed = time_collectives(cluster, jobs);
  EXPECT_LT(timed.timings.at(0).messages, 2e6) << "within the budget of messages";
  EXPECT_EQ(timed.timings.at(0).fidelity, spec::Fidelity::flow) << test::notes_of(timed.network);
  EXPECT_EQ(timed.network.messages, 0);
}

// ---- what is kept from one time to the next ----

TEST(StepByFlow, ACollectiveThatWorkersComeToApartIsTheSameWhenItComesAgain) {
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(4, 2, test::line(450e9, 5e-7, spec::Transport::nvlink, 0.8),
                                   test::line(50e9, 1e-6, spec::Transport::rdma, 0.9));
  Cluster cluster = test::workers_on(platform, spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  const auto seconds = [&](double more) {
    test::Script script(8, false);
    for (int i = 0; i < 4; ++i) {
      schedule::PerWorker apart({1, 1, 1 + 1e-5 * i, 1, 1, 1 + 2e-5, 1, 1});
      script.compute(apart).wait(script.all_reduce(1e8 + more * i));
    }
    const TimedRun run = time_schedules(cluster, std::vector<schedule::Schedule>{script.schedule()});
    EXPECT_EQ(run.network.fidelity, "flow") << test::notes_of(run.network);
    const step::StepTiming& timing = run.steps.at(0);
    return std::vector<double>{timing.seconds, timing.waiting_seconds, timing.bytes_sent.at(3)};
  };
  const std::vector<double> again = seconds(0);
  const std::vector<double> another = seconds(1e-3);  // 1e-3 bytes: sizes are almost equal, yet each collective is a
                                                      // new one
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_NEAR(again[i], another[i], 1e-9 * another[i]);
}

/// Returns the remedies of a refusal in order: values of fidelity="…", and "" for fewer workers.
std::vector<std::string> advised(const std::string& refusal) {
  std::vector<std::string> all;
  const std::string advice = refusal.substr(std::min(refusal.size(), refusal.rfind("; use ")));
  for (const char* fidelity : {"flow", "closed-form"}) {
    if (advice.find(fmt::format("fidelity=\"{}\"", fidelity)) != std::string::npos) all.emplace_back(fidelity);
  }
  if (advice.find("fewer workers") != std::string::npos) all.emplace_back();
  return all;
}

/// Returns the refusal of an all-gather among `workers`, each of which sends to all others; "" if it is timed. With 180
/// or more workers, the pairs exceed the limit for messages.
std::string refusal_of(Cluster cluster, std::size_t workers) {
  cluster.hosts.resize(workers);
  cluster.devices.resize(workers);
  test::Script script(workers, false);
  script.compute(1e-3);
  script.wait(script.collective(CollectiveKind::all_gather, test::same(1e3), "direct"));
  const std::vector<schedule::Schedule> schedules{script.schedule()};
  try {
    time_schedules(cluster, schedules);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(FidelityChoice, WhatDrawnRefusalsAdviseIsAccepted) {
  constexpr std::size_t kMany = 184;
  int refusals = 0;
  for (const bool tcp : {false, true}) {
    for (const bool odd : {false, true}) {
      for (const bool waits : {false, true}) {
        for (const spec::Fidelity fidelity :
             {spec::Fidelity::automatic, spec::Fidelity::message, spec::Fidelity::flow}) {
          spec::GpuClusterSpec gpu =
              test::cluster_of(kMany / 8, 8, test::line(450e9, 5e-7, spec::Transport::nvlink, 0.82),
                               test::line(1.25e9, 6e-7, tcp ? spec::Transport::tcp : spec::Transport::rdma, 0.95));
          spec::PlatformSpec platform;
          platform.what = gpu;
          Cluster cluster = test::workers_on(platform, fidelity);
          cluster.devices.assign(kMany, test::clockwork());
          if (odd) cluster.devices[8].slowdown = 2;
          cluster.network.rendezvous = waits;
          const std::string refusal = refusal_of(cluster, kMany);
          if (refusal.empty()) continue;
          ++refusals;
          const std::vector<std::string> advice = advised(refusal);
          EXPECT_FALSE(advice.empty()) << refusal;
          for (const std::string& one : advice) {
            Cluster cured = cluster;
            if (one == "message") continue;  // messages are slow, as the remedy states
            if (one == "flow") cured.network.fidelity = spec::Fidelity::flow;
            if (one == "closed-form") cured.network.fidelity = spec::Fidelity::closed_form;
            EXPECT_EQ(refusal_of(cured, one.empty() ? 8 : kMany), "") << "advised by: " << refusal;
          }
        }
      }
    }
  }
  EXPECT_GE(refusals, 9);
}

}  // namespace
}  // namespace dadsim::sim
