// Expects that every scenario that --check accepts can be run. Draws scenarios over the whole language, and runs the
// accepted ones. DADSIM_DRAWS sets how many are drawn, DADSIM_FIRST_DRAW the first seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "study/composition/asking.hpp"

namespace dadsim::study {
namespace {

std::uint64_t first_draw() {
  const char* asked = std::getenv("DADSIM_FIRST_DRAW");
  return asked == nullptr ? 1 : std::strtoull(asked, nullptr, 10);
}

constexpr std::uint64_t kCheckParts = 4;

class CompleteCheck : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CompleteCheck, WhatIsAcceptedRunsAndWhatIsRefusedSaysWhereAndWhatWouldDo) {
  const Asking asking;
  std::uint64_t accepted = 0, all = 0;
  const bool tells = std::getenv("DADSIM_DRAWS") != nullptr;
  std::set<std::string> methods;
  for (std::uint64_t seed = first_draw() + GetParam(); seed < first_draw() + draws(120); seed += kCheckParts) {
    const test::Element root = test::drawn_scenario(seed, asking.catalog());
    const bool times_alone = seed % 5 == 0;
    const Asking::Checked checked = asking.check(root, times_alone);
    ++all;
    if (!checked.scenario) {
      for (const Diagnostic& one : checked.refused) {
        // The platform builder reports missing hosts and routes with the remedy as a part of the message.
        const bool has_remedy = !one.remedy.empty() || one.what.find("; ") != std::string::npos;
        if (one.what.ends_with(" more errors")) continue;  // the count of errors after the first hundred has no remedy
        EXPECT_TRUE(!one.what.empty() && has_remedy && (one.line > 0 || one.file != asking.path()))
            << "seed " << seed << ": " << to_string(one) << '\n'
            << test::text_of(root);
        if (tells) fmt::print("refused {}: {}\n", seed, to_string(one));
      }
      continue;
    }
    ++accepted;
    for (const spec::RunSpec& run : checked.scenario->runs) methods.insert(run.algorithm);
    const auto start = std::chrono::steady_clock::now();
    const Asking::Ran ran = Asking::run(*checked.scenario);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (tells) fmt::print("ran {} in {:.3f} s\n", seed, seconds);
    EXPECT_TRUE(ran.result) << "seed " << seed << (times_alone ? ", --timing-only" : "") << ": " << ran.failed << '\n'
                            << test::text_of(root);
    std::fflush(stdout);
  }
  EXPECT_GT(accepted, all / 16);
  RecordProperty("accepted", static_cast<int>(accepted));
  RecordProperty("methods", static_cast<int>(methods.size()));
  if (tells) fmt::print("{} of {} accepted, {} methods\n", accepted, all, methods.size());
}

INSTANTIATE_TEST_SUITE_P(Drawn, CompleteCheck, testing::Range<std::uint64_t>(0, kCheckParts));

}  // namespace
}  // namespace dadsim::study
