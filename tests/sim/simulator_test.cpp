#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/star.hpp"
#include "support/environment_error.hpp"

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::platform_xml;
using test::same;
using test::Script;
using test::Star;
using test::TemporaryFile;

/// Returns a step with 0.25 s of computing, `bytes` from each worker to the hub, and an empty message back.
schedule::Schedule gather_step(double bytes) {
  Script script(2);
  script.compute(0.25).gather_and_answer(bytes);
  return script.schedule();
}

void expect_identical(const step::StepTiming& a, const step::StepTiming& b) {
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.compute_seconds, b.compute_seconds);
  EXPECT_EQ(a.exposed_seconds, b.exposed_seconds);
  EXPECT_EQ(a.bytes_sent, b.bytes_sent);
  EXPECT_EQ(a.bytes_received, b.bytes_received);
  ASSERT_EQ(a.bounds.size(), b.bounds.size());
  for (std::size_t i = 0; i < a.bounds.size(); ++i) {
    EXPECT_EQ(a.bounds[i].resource, b.bounds[i].resource);
    EXPECT_EQ(a.bounds[i].kind, b.bounds[i].kind);
    EXPECT_EQ(a.bounds[i].seconds, b.bounds[i].seconds);
    EXPECT_EQ(a.bounds[i].share, b.bounds[i].share);
  }
}

/// Returns the error of time_schedules, or "".
std::string refusal(const Cluster& cluster, const schedule::Schedule& schedule) {
  try {
    const std::vector<schedule::Schedule> schedules{schedule};
    time_schedules(cluster, schedules);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return {};
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "in: " << text << "\nexpected: " << part;
}

TEST(Simulator, SchedulesThatAreEqualAreSimulatedOnce) {
  const TemporaryFile file(Star{}.xml());
  const std::vector<schedule::Schedule> schedules{gather_step(1e6), gather_step(2e6), gather_step(1e6),
                                                  gather_step(1e6), gather_step(3e6)};
  std::vector<std::size_t> done;
  const auto timings =
      time_schedules(cluster_on(file.path(), 2), schedules, [&](std::size_t count) { done.push_back(count); }).steps;
  EXPECT_EQ(done, (std::vector<std::size_t>{1, 4, 5}));  // once per simulation
  ASSERT_EQ(timings.size(), 5U);
  expect_identical(timings[0], timings[2]);
  expect_identical(timings[0], timings[3]);
  EXPECT_NEAR(timings[1].seconds, 0.25 + 0.01 + 2 + 0.01, 1e-9);
  EXPECT_NEAR(timings[4].seconds, 0.25 + 0.01 + 3 + 0.01, 1e-9);
}

TEST(Simulator, APlatformThatVariesIsFollowedOverTime) {
  // The host computes at full speed for one second and at half speed afterwards.
  const TemporaryFile platform(platform_xml("<host id=\"w0\" speed=\"1Gf\"/>", "Full", "",
                                            "<trace id=\"slower\" periodicity=\"1000.0\">\n0.0 1.0\n1.0 0.5\n</trace>\n"
                                            "<trace_connect kind=\"SPEED\" trace=\"slower\" element=\"w0\"/>\n"));
  Script script(1, false);
  script.compute(1.0);
  const Cluster cluster = cluster_on(platform.path(), 1, false);
  const std::vector<schedule::Schedule> schedules(3, script.schedule());
  const std::vector<step::StepTiming> timings = time_schedules(cluster, schedules).steps;
  EXPECT_NEAR(timings[0].seconds, 1.0, 1e-6);
  EXPECT_NEAR(timings[1].seconds, 2.0, 1e-6);
  EXPECT_NEAR(timings[2].seconds, 2.0, 1e-6);
}

TEST(Simulator, NoSchedulesTakeNoSimulation) {
  Cluster nowhere;
  EXPECT_TRUE(time_schedules(nowhere, {}).steps.empty());
}

TEST(Simulator, CallsAreIdenticalBitByBit) {
  const TemporaryFile file(Star{.workers = 4, .hub_rate = 1.7e6}.xml());
  std::vector<schedule::Schedule> schedules;
  for (int i = 0; i < 20; ++i) {
    Script script(4);
    script.compute(schedule::PerWorker({0.1, 0.2, 0.3 * i, 0.01}));
    const auto up = script.gather(schedule::PerWorker({1e5, 2e5 + i, 3e5, 0}));
    script.wait(up, step::Role::aggregator).compute(0.1, step::Role::aggregator);
    script.wait(script.broadcast(4e5)).wait(script.all_reduce(1e5 * i)).compute(0.05);
    schedules.push_back(script.schedule());
  }
  const Cluster cluster = cluster_on(file.path(), 4);
  const auto first = time_schedules(cluster, schedules).steps;
  const auto second = time_schedules(cluster, schedules).steps;
  ASSERT_EQ(first.size(), 20U);
  for (std::size_t i = 0; i < first.size(); ++i) expect_identical(first[i], second[i]);
}

TEST(Simulator, WhatCameBeforeDoesNotMatter) {
  const TemporaryFile file(Star{}.xml());
  Script unfinished(2);
  unfinished.gather(9e6);  // still under way when the step ends
  const std::vector<schedule::Schedule> schedules{gather_step(1e6), unfinished.schedule(), gather_step(1e6 + 1)};
  const auto timings = time_schedules(cluster_on(file.path(), 2), schedules).steps;
  EXPECT_NEAR(timings[2].seconds, timings[0].seconds + 1e-6, 1e-12);
}

TEST(Simulator, ThousandsOfSecondsOnTheClockDoNotBlurMicroseconds) {
  const Star star{.workers = 2, .rate = 25e9, .latency = 6e-7};
  const TemporaryFile file(star.xml());
  Script fast(2, false);
  fast.compute(5e-6).wait(fast.all_reduce(1000));
  Script slow(2, false);
  slow.compute(1e4);
  const std::vector<schedule::Schedule> schedules{slow.schedule(), fast.schedule()};
  const auto timings = time_schedules(cluster_on(file.path(), 2, false), schedules).steps;
  EXPECT_NEAR(timings[1].seconds, 5e-6 + 2 * star.between(500), 1e-6 * timings[1].seconds);
}

TEST(Simulator, AScheduleOfFewerWorkersUsesTheFirst) {
  const TemporaryFile file(Star{.workers = 5}.xml());
  const std::vector<schedule::Schedule> schedules{gather_step(1e6)};
  const step::StepTiming timing = time_schedules(cluster_on(file.path(), 5), schedules).steps.at(0);
  EXPECT_EQ(timing.bytes_received, (std::vector<double>{0, 0, 2e6}));
  EXPECT_EQ(timing.bounds.at(0).resource, "up0");
}

TEST(Simulator, WorkersMayShareAHostWithEnoughCores) {
  const TemporaryFile file(
      platform_xml("<host id=\"w0\" speed=\"1Gf\" core=\"2\"/><host id=\"hub\" speed=\"1Gf\"/>"
                   "<link id=\"l\" bandwidth=\"1MBps\" latency=\"1ms\"/>"
                   "<route src=\"w0\" dst=\"hub\"><link_ctn id=\"l\"/></route>"));
  Cluster cluster = cluster_on(file.path(), 2);
  cluster.hosts = {"w0", "w0"};
  const std::vector<schedule::Schedule> schedules{gather_step(5e5)};
  const step::StepTiming timing = time_schedules(cluster, schedules).steps.at(0);
  EXPECT_NEAR(timing.seconds, 0.25 + 0.001 + 1.0 + 0.001, 1e-9);  // both messages on one link
}

TEST(Simulator, RefusesSchedulesThatAreNone) {
  const TemporaryFile file(Star{}.xml());
  const Cluster cluster = cluster_on(file.path(), 2);
  const Cluster peers = cluster_on(file.path(), 2, false);
  expect_contains(refusal(cluster, Script(0).schedule()), "schedule 0 has no workers");
  expect_contains(refusal(cluster, Script(3).schedule()), "is for 3 workers, but the cluster has 2");
  expect_contains(refusal(peers, Script(2).schedule()), "uses an aggregator, but the cluster has no aggregator");
  const auto with = [&](auto&& write, bool aggregator = true) {
    Script script(2, aggregator);
    write(script);
    return refusal(cluster, script.schedule());
  };
  expect_contains(with([](Script& s) { s.wait(0); }),
                  "task 0 (layer) waits for task 0, which is not an earlier collective");
  expect_contains(with([](Script& s) { s.wait(-1); }), "waits for task -1");
  expect_contains(with([](Script& s) { s.compute(1).wait(0); }), "waits for task 0");
  expect_contains(with([](Script& s) { s.gather(1); }, false), "needs an aggregator, but the step has no aggregator");
  expect_contains(with([](Script& s) { s.compute(1, step::Role::aggregator); }, false),
                  "is for an aggregator, but the step has no aggregator");
  expect_contains(with([](Script& s) { s.wait(s.all_reduce(1), step::Role::aggregator); }), "in which");
  expect_contains(with([](Script& s) { s.gather(-1.0); }), "sends an amount that is negative or not finite");
  expect_contains(with([](Script& s) { s.gather(std::numeric_limits<double>::quiet_NaN()); }), "sends an amount");
  expect_contains(with([](Script& s) { s.compute(-1); }), "computes an amount");
  expect_contains(with([](Script& s) { s.compute(std::numeric_limits<double>::infinity()); }), "computes an amount");
  expect_contains(with([](Script& s) {
                    s.collective(step::CollectiveKind::all_reduce, schedule::PerWorker({1, 2}));
                  }),
                  "unequal size");
  Script wide(2);
  wide.gather(schedule::PerWorker({1, 2, 3}));
  EXPECT_EQ(refusal(cluster, wide.schedule()), "");  // values of workers that do not exist are ignored
  Script four(4);
  four.gather(schedule::PerWorker({1, 2}));
  const TemporaryFile larger(Star{.workers = 4}.xml());
  expect_contains(refusal(cluster_on(larger.path(), 4), four.schedule()), "values for too few workers");
}

TEST(Simulator, SaysWhatSimGridSaid) {
  const schedule::Schedule step = gather_step(1e6);
  const TemporaryFile broken(platform_xml("<host id=\"w0\" speed=\"1Gf\"/><link/>"));
  expect_contains(refusal(cluster_on(broken.path(), 2), step), broken.path() + ":5: Invalid XML");
  const TemporaryFile twice(platform_xml("<host id=\"w0\" speed=\"1Gf\"/><host id=\"w0\" speed=\"1Gf\"/>"));
  expect_contains(refusal(cluster_on(twice.path(), 2), step), "Refusing to create a second host named 'w0'");
  const TemporaryFile star(Star{}.xml());
  Cluster elsewhere = cluster_on(star.path(), 2);
  elsewhere.hosts[1] = "w7";
  expect_contains(refusal(elsewhere, step), "host 'w7' is not in the platform");
  const TemporaryFile apart(platform_xml(
      "<host id=\"w0\" speed=\"1Gf\"/><host id=\"w1\" speed=\"1Gf\"/><host id=\"hub\" speed=\"1Gf\"/>", "Floyd"));
  expect_contains(refusal(cluster_on(apart.path(), 2), step), "No route from");
  const TemporaryFile islands(
      platform_xml("<host id=\"w0\" speed=\"1Gf\"/><host id=\"w1\" speed=\"1Gf\"/><host id=\"hub\" speed=\"1Gf\"/>"));
  expect_contains(refusal(cluster_on(islands.path(), 2), step), "there is no route from 'w0' to 'hub'");
  expect_contains(refusal(cluster_on("/no/such/platform.xml", 2), step), "the simulation failed after 0 of 1 steps");
  const std::string words = refusal(cluster_on(twice.path(), 2), step);
  EXPECT_EQ(words.find("libsimgrid"), std::string::npos) << words;  // no backtrace
  EXPECT_EQ(words.find("[0.0"), std::string::npos) << words;        // no log prefix
}

TEST(Simulator, SurvivesItsChildBeingKilled) {
  const TemporaryFile file(Star{}.xml());
  std::vector<schedule::Schedule> schedules;
  for (int i = 0; i < 5000; ++i) schedules.push_back(gather_step(1e6 + i));
  try {
    time_schedules(cluster_on(file.path(), 2), schedules, [](std::size_t) {
      int child = 0;
      std::ifstream("/proc/thread-self/children") >> child;
      if (child > 0) kill(child, SIGKILL);
    });
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    expect_contains(error.what(), "was killed by signal 9 (Killed)");
  }
  // The next call is not affected.
  EXPECT_EQ(time_schedules(cluster_on(file.path(), 2), std::vector<schedule::Schedule>{gather_step(1)}).steps.size(),
            1U);
}

// When SimGrid crashed for lack of memory in one of its attempts, `explain` once left a line out and exited with 0.
TEST(Simulator, ACrashIsNoFinding) {
  const TemporaryFile file(Star{}.xml());
  std::vector<schedule::Schedule> schedules;
  for (int i = 0; i < 5000; ++i) schedules.push_back(gather_step(1e6 + i));
  try {
    time_schedules(cluster_on(file.path(), 2), schedules, [](std::size_t) {
      int child = 0;
      std::ifstream("/proc/thread-self/children") >> child;
      if (child > 0) kill(child, SIGSEGV);
    });
    FAIL() << "no error";
  } catch (const SimulationError& error) {
    FAIL() << "a finding: " << error.what();
  } catch (const std::runtime_error& error) {
    expect_contains(error.what(), "the simulation crashed");
  }
}

TEST(Simulator, PassesOnWhatTheProgressCallThrows) {
  const TemporaryFile file(Star{}.xml());
  const std::vector<schedule::Schedule> schedules{gather_step(1), gather_step(2)};
  EXPECT_THROW(
      time_schedules(cluster_on(file.path(), 2), schedules, [](std::size_t) { throw std::runtime_error("stop"); }),
      std::runtime_error);
  int child = 0;
  std::ifstream("/proc/thread-self/children") >> child;
  EXPECT_EQ(child, 0);  // no child process is left
}

TEST(Simulator, WritesNothingToTheTerminal) {
  const TemporaryFile file(Star{}.xml());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  refusal(cluster_on(file.path(), 2), gather_step(1e6));
  refusal(cluster_on("/no/such/platform.xml", 2), gather_step(1e6));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Simulator, NamesItsVersionAndModel) {
  EXPECT_TRUE(simgrid_version().starts_with("3.") || simgrid_version().starts_with("4.")) << simgrid_version();
  expect_contains(network_model_description(), "max-min fair");
}

}  // namespace
}  // namespace dadsim::sim
