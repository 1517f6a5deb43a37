// Recomputes every headline, note, verdict, factor, interval and cause from the JSON result, for scenarios drawn over
// the whole language. For some of them, recomputes the explanation too. DADSIM_DRAWS sets how many are drawn.
#include "study/composition/said.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "report/explain/explanation.hpp"
#include "report/run/result_document.hpp"
#include "study/composition/asking.hpp"
#include "study/explain/explain.hpp"

namespace dadsim::study {
namespace {

constexpr std::uint64_t kSaidParts = 4;

class WhatIsSaid : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WhatIsSaid, IsWhatTheNumbersSay) {
  const Asking asking;
  const bool tells = std::getenv("DADSIM_DRAWS") != nullptr;
  std::set<std::string> kinds;
  std::uint64_t results = 0, explanations = 0;
  for (std::uint64_t i = GetParam(); i < draws(120); i += kSaidParts) {
    const std::uint64_t seed = 100'000 + i;
    const test::Element root = test::drawn_scenario(seed, asking.catalog());
    const Asking::Checked checked = asking.check(root, i % 7 == 0);
    if (!checked.scenario) continue;
    const Asking::Ran ran = Asking::run(*checked.scenario);
    if (!ran.result) continue;  // complete_check_test.cpp reports scenarios that fail
    const nlohmann::json result = nlohmann::json::parse(to_json(document_of(*ran.result)));
    ++results;
    for (const auto& one : result.at("answer").at("statements")) kinds.insert(one.at("kind"));
    for (const auto& run : result.at("runs")) {
      for (const auto& one : run.at("notes")) kinds.insert(one.at("kind"));
    }
    const Said said(result);
    EXPECT_TRUE(said.wrong().empty()) << "seed " << seed << ": " << fmt::format("{}", fmt::join(said.wrong(), "\n"))
                                      << '\n'
                                      << test::text_of(root);
    if (i % 40 != GetParam()) continue;
    try {
      const scenario::Scenario scenario = as_explained(*checked.scenario);
      const nlohmann::json explanation = nlohmann::json::parse(
          to_json(document_of(explain_scenario(scenario, learn_scenario(scenario, nullptr, false), false))));
      const std::vector<std::string> wrong = unexplained(explanation);
      EXPECT_TRUE(wrong.empty()) << "seed " << seed << ": " << fmt::format("{}", fmt::join(wrong, "\n")) << '\n'
                                 << test::text_of(root);
      ++explanations;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << '\n' << test::text_of(root);
    }
    std::fflush(stdout);
  }
  if (tells) fmt::print("{} results, {} explanations, kinds: {}\n", results, explanations, fmt::join(kinds, " "));
  EXPECT_GT(results, 0U);
}

INSTANTIATE_TEST_SUITE_P(Drawn, WhatIsSaid, testing::Range<std::uint64_t>(0, kSaidParts));

}  // namespace
}  // namespace dadsim::study
