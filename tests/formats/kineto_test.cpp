// Tests steps in traces of torch.profiler: a step takes the device's time, also if the host runs ahead.
#include "formats/kineto.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <ctime>
#include <stdexcept>
#include <vector>

namespace dadsim::formats {
namespace {

std::string event(const char* category, const std::string& name, double from, double takes,
                  const std::string& more = "") {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}{}}})", category, name, from, takes,
                     more);
}
std::string step(int number, double from, double takes) {
  return event("user_annotation", fmt::format("ProfilerStep#{}", number), from, takes);
}
ProfiledStep profile(const std::vector<std::string>& events) {
  return profile_of_trace(fmt::format(R"({{"traceEvents": [{}]}})", fmt::join(events, ", "))).value();
}

/// Returns six step ranges of the host, which is blocked from the fourth on, and 24 consecutive kernels.
std::vector<std::string> ahead() {
  std::vector<std::string> events;
  double from = 0;
  for (const double takes : {20e3, 30e3, 90e3, 100e3, 100e3, 100e3}) {
    events.push_back(step(static_cast<int>(events.size()) + 1, from, takes));
    from += takes;
  }
  for (int i = 0; i < 24; ++i) events.push_back(event("kernel", "sgemm", 5e3 + 25e3 * i, 24.9e3));
  return events;
}

TEST(Kineto, AHostThatRunsAheadDoesNotShortenSteps) {
  const ProfiledStep mean = profile(ahead());
  EXPECT_NEAR(mean.step.value(), 0.1, 1e-4);
  EXPECT_NEAR(mean.computing, 0.0996, 1e-6);
  EXPECT_NEAR(mean.idle.value(), *mean.step - mean.computing, 1e-9);
}

TEST(Kineto, WhatAnotherStepBeganIsNotOfThese) {
  // An earlier step precedes the first range, and an evaluation follows the last range without a pause.
  std::vector<std::string> events{step(1, 100e3, 100e3), step(2, 200e3, 100e3)};
  for (int i = 0; i < 40; ++i) {
    const double begun = 10e3 * i;
    events.push_back(
        event("cuda_runtime", "cudaLaunchKernel", begun, 5, fmt::format(R"(, "args": {{"correlation": {}}})", i + 1)));
    events.push_back(
        event("kernel", "gemm", begun + 70e3, 10e3, fmt::format(R"(, "args": {{"correlation": {}}})", i + 1)));
  }
  EXPECT_NEAR(profile(events).step.value(), 0.1, 1e-9);
  // A trace without times of steps may still have numbers of steps.
  events = {step(1, 0, 10e3), step(2, 10e3, 10e3), event("gpu_user_annotation", "ProfilerStep#1", 5e3, 50e3),
            event("gpu_user_annotation", "ProfilerStep#2", 55e3, 50e3)};
  for (int i = 0; i < 40; ++i) events.push_back(event("kernel", "gemm", 5e3 + 5e3 * i, 5e3));
  EXPECT_NEAR(profile(events).step.value(), 0.05, 1e-9);
}

TEST(Kineto, CyclesOfAProfileStandForThemselves) {
  const ProfiledStep mean =
      profile({step(3, 0, 10e3), step(4, 10e3, 10e3), step(13, 900e3, 30e3), event("kernel", "gemm", 1e3, 8e3),
               event("kernel", "gemm", 11e3, 8e3), event("kernel", "gemm", 901e3, 20e3)});
  EXPECT_NEAR(mean.step.value(), 50e-3 / 3, 1e-9);
  EXPECT_NEAR(mean.computing, 36e-3 / 3, 1e-9);
}

TEST(Kineto, CopiesAreNotIdle) {
  const ProfiledStep mean =
      profile({step(1, 0, 100), event("kernel", "gemm", 0, 50), event("gpu_memcpy", "Memcpy HtoD", 50, 20),
               event("gpu_memset", "Memset", 80, 10), event("kernel", "ncclDevKernel_AllReduce", 60, 15)});
  EXPECT_NEAR(mean.computing, 80e-6, 1e-12);
  EXPECT_NEAR(mean.communicating, 5e-6, 1e-12);
  EXPECT_NEAR(mean.idle.value(), 15e-6, 1e-12);
}

TEST(Kineto, TimesThatNoClockSaysAreRefused) {
  for (const double takes : {-1e300, -1.0, 1e300})
    EXPECT_THROW(profile({step(1, 0, takes), event("kernel", "gemm", 0, 1)}), std::runtime_error);
  EXPECT_THROW(profile({step(1, 0, 10), event("kernel", "gemm", 1e300, 1)}), std::runtime_error);
  EXPECT_THROW(profile({step(1, 0, 10)}), std::runtime_error);
  EXPECT_THROW(profile({event("kernel", "gemm", 0, 1)}), std::runtime_error);
  EXPECT_FALSE(profile_of_trace("{}").has_value());
  EXPECT_FALSE(profile_of_trace("{\"traceEvents\": [").has_value());
}

// A search over steps × kernels once took 8 s for this file.
TEST(Kineto, TakesAboutAsLongAsTheFileIs) {
  std::vector<std::string> events;
  for (int i = 0; i < 3000; ++i) events.push_back(step(i, 1000 * i, 1000));
  for (int i = 0; i < 60'000; ++i) events.push_back(event("kernel", "k", i * 7 % 3'000'000, 5));
  const std::string text = fmt::format(R"({{"traceEvents": [{}]}})", fmt::join(events, ", "));
  const std::clock_t begin = std::clock();
  EXPECT_EQ(profile_of_trace(text).value().steps, 3000U);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 4);
}

}  // namespace
}  // namespace dadsim::formats
