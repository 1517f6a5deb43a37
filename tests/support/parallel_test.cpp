#include "support/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace dadsim {
namespace {

// An interrupted sweep once continued with matrices that a nested loop had filled only partly.
TEST(ParallelLoops, ALoopThatIsGivenUpSaysSoToWhoWouldUseWhatItLeaves) {
  const tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
  constexpr std::size_t kInner = 1000;
  std::atomic<int> left_half_done{0};
  std::atomic<int> given_up{0};
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> inside{false};
    const auto outer = [&](std::size_t part) {
      if (part == 0) {
        for (int i = 0; i < 2000 && !inside; ++i) std::this_thread::sleep_for(std::chrono::microseconds(100));
        throw std::runtime_error("the user has asked to stop");
      }
      std::vector<int> filled(kInner, 0);
      try {
        parallel_for(kInner, [&](std::size_t i) {
          inside = true;
          std::this_thread::sleep_for(std::chrono::microseconds(10));
          filled[i] = 1;
        });
      } catch (const Cancelled&) {
        ++given_up;
        throw;
      }
      for (const int one : filled) {
        if (one == 0) {
          ++left_half_done;
          break;
        }
      }
    };
    EXPECT_THROW(parallel_for(4, outer), std::runtime_error);
  }
  EXPECT_EQ(left_half_done, 0);
  EXPECT_GT(given_up, 0) << "no loop was given up: nothing was tried";
}

TEST(ParallelLoops, WhatABodyThrowsIsWhatTheLoopThrows) {
  try {
    parallel_for(100, [](std::size_t i) {
      parallel_for(10, [&](std::size_t k) {
        if (i == 50 && k == 5) throw std::out_of_range("this one");
      });
    });
    FAIL() << "nothing was thrown";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "this one");
  }
}

}  // namespace
}  // namespace dadsim
