// Tests that the winner of a single scenario is decided by the rules of sweeps.
#include "estimate/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/run/answer.hpp"
#include "report/run/result_document.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

using Arrivals = std::vector<std::optional<estimate::Arrival>>;

/// Returns exact arrivals, so that uncertainty comes from seeds alone.
Arrivals at(const std::vector<double>& seconds) {
  Arrivals arrivals;
  for (const double one : seconds) arrivals.push_back(estimate::Arrival{one, one});
  return arrivals;
}

RunResult arrived(const std::string& label, const Arrivals& arrivals, bool exact = false) {
  RunResult run = sample_run(label == "gradient-sharing" ? label : "rank-dad", label);
  run.arrivals = arrivals;
  run.best_accuracies.assign(arrivals.size(), 0.97);
  run.exact = exact;
  run.seed_scatter = 0.08 / std::sqrt(2);  // a scatter of 0.08 for the ratio of two such runs
  run.target_reached = arrivals.front().has_value();
  run.target_seconds = run.target_reached ? arrivals.front()->at : 0;
  run.step_band.reset();
  return run;
}

using estimate::Standing;

Standing standing(const Answer& answer, std::size_t place) { return answer.ranking.at(place).verdict.standing; }

Result of(std::vector<RunResult> runs) {
  Result result = sample_result();
  result.runs = std::move(runs);
  return result;
}

TEST(AnswerOverSeeds, OneSeedLeavesOpenWhatSeedsAreAssumedToScatter) {
  // The interval of the log ratio is 1.96 · 0.08, a factor of 1.17.
  EXPECT_EQ(
      as_paragraph(answer_to(of({arrived("gradient-sharing", at({41.9})), arrived("dad", at({41.2}))})).statements),
      "dad and gradient-sharing cannot be told apart (1.0; 0.87 … 1.2): they reach 95 % in 41.2 s and 41.9 s; more "
      "seeds (seeds=\"5\" of <training>) would decide.");
  EXPECT_EQ(as_paragraph(answer_to(of({arrived("gradient-sharing", at({116})), arrived("dad", at({100}))})).statements)
                .substr(0, 7),
            "dad and");
  EXPECT_EQ(as_paragraph(answer_to(of({arrived("gradient-sharing", at({118})), arrived("dad", at({100}))})).statements),
            "dad reaches 95 % first, in 1 min 40 s: 1.2 times (1.0 … 1.4) faster than gradient-sharing (1 min 58 s).");
}

TEST(AnswerOverSeeds, WhoComesAfterThoseIsNamed) {
  const Answer answer = answer_to(of(
      {arrived("gradient-sharing", at({90})), arrived("A", at({40})), arrived("B", at({41})), arrived("C", at({42}))}));
  const std::vector<std::string> sentences = in_words(answer.statements);
  EXPECT_EQ(sentences[0],
            "A, B and C cannot be told apart (1.0; 0.88 … 1.2, 1.1; 0.90 … 1.2): they reach 95 % in 40.0 s, 41.0 s and "
            "42.0 s; "
            "more seeds (seeds=\"5\" of <training>) would decide; A is 2.2 times (1.9 … 2.6) faster than "
            "gradient-sharing (1 min "
            "30 s).");
  ASSERT_EQ(answer.ranking.size(), 4U);
  EXPECT_EQ(standing(answer, 0), Standing::first);
  EXPECT_EQ(standing(answer, 1), Standing::undecided);
  EXPECT_EQ(standing(answer, 2), Standing::undecided);
  EXPECT_EQ(standing(answer, 3), Standing::behind);
  const estimate::Estimate& ratio = answer.ranking[1].verdict.ratio;
  EXPECT_NEAR(ratio.value, 41.0 / 40, 1e-12);
  EXPECT_NEAR(*ratio.high, 41.0 / 40 * std::exp(estimate::chance_of(0.08)), 1e-12);
}

TEST(AnswerOverSeeds, RunsThatLearnAlikeAreToldApartByTheirTimes) {
  EXPECT_EQ(
      as_paragraph(
          answer_to(of({arrived("gradient-sharing", at({41.9}), true), arrived("dad", at({41.2}), true)})).statements),
      "dad and gradient-sharing are equal within 5 %: they reach 95 % in 41.2 s and 41.9 s.");
  EXPECT_EQ(
      as_paragraph(
          answer_to(of({arrived("gradient-sharing", at({41}), true), arrived("dad", at({41}), true)})).statements),
      "gradient-sharing and dad are equal: they reach 95 % in 41.0 s.");
  RunResult longer = arrived("gradient-sharing", at({45}), true);
  longer.step_seconds *= 45.0 / 41;
  EXPECT_EQ(as_paragraph(answer_to(of({longer, arrived("dad", at({41}), true)})).statements),
            "dad reaches 95 % first, in 41.0 s: 1.098 times faster than gradient-sharing (45.0 s).");
}

TEST(AnswerOverSeeds, RoundingBetweenExactRunsIsSaid) {
  RunResult later = arrived("gradient-sharing", at({60}), true);  // later by 5 steps of 3 s
  EXPECT_EQ(
      as_paragraph(answer_to(of({later, arrived("dad", at({45}), true)})).statements),
      "gradient-sharing and dad are equal: they reach 95 % in 45.0 s. Exact algorithms learn the same trajectory, and "
      "rounding moved the target by 5 steps: every exact run counts with the steps of the first.");
  RunResult never = arrived("edad", {std::nullopt}, true);
  EXPECT_TRUE(
      as_paragraph(answer_to(of({never, arrived("dad", at({45}), true)})).statements)
          .ends_with("rounding made one run miss the target: every exact run counts with the steps of the first."));
}

TEST(AnswerOverSeeds, EvaluationsLeaveOpenWhatLiesBetweenThem) {
  const RunResult quick = arrived("dad", {estimate::Arrival{80, 100}});
  EXPECT_EQ(standing(answer_to(of({quick, arrived("B", {estimate::Arrival{90, 125}})})), 1), Standing::undecided);
  EXPECT_EQ(standing(answer_to(of({quick, arrived("B", {estimate::Arrival{124, 125}})})), 1), Standing::behind);
}

TEST(AnswerOverSeeds, SeedsArePaired) {
  // Each run scatters by a third, but with every seed B takes a tenth longer than A.
  const std::vector<double> first{30, 45, 38, 51, 33};
  std::vector<double> longer;
  for (const double one : first) longer.push_back(one * 1.1 + (one == 38 ? 0.5 : 0));
  const Answer won = answer_to(of({arrived("A", at(first)), arrived("B", at(longer))}));
  EXPECT_EQ(standing(won, 1), Standing::behind);
  EXPECT_NEAR(won.ranking[0].seconds, 39.4, 1e-9);
  EXPECT_EQ(won.ranking[0].seeds, 5U);
  EXPECT_TRUE(in_words(won.statements)[0].starts_with("A reaches 95 % first, in 39.4 s ("))
      << in_words(won.statements)[0];
  EXPECT_NE(in_words(won.statements)[0].find(" over 5 seeds: 1.10"), std::string::npos) << in_words(won.statements)[0];

  const Answer open = answer_to(of({arrived("A", at(first)), arrived("B", at({45, 33, 41, 40, 42}))}));
  EXPECT_EQ(in_words(open.statements)[0],
            "A and B cannot be told apart (1.0; 0.72 … 1.5): they reach 95 % in 39.4 s and 40.2 s; more seeds "
            "(seeds=\"5\" of <training>) would decide.");
}

TEST(AnswerOverSeeds, ARunThatMissesTheTargetWithASeedIsNotRanked) {
  Arrivals some = at({30, 31});
  some.push_back(std::nullopt);
  RunResult lucky = arrived("lucky", some);
  lucky.best_accuracies = {0.96, 0.97, 0.94};
  const std::string won = as_paragraph(answer_to(of({lucky, arrived("dad", at({40, 41, 42}))})).statements);
  EXPECT_TRUE(won.starts_with("dad reaches 95 % first, in 41.0 s")) << won;
  EXPECT_TRUE(won.ends_with("; no other sharing run reached it with every seed.")) << won;
  EXPECT_EQ(as_paragraph(answer_to(of({lucky})).statements),
            "The only sharing run did not reach 95 % with every one of 3 seeds: lucky came nearest with 94.0 %.");
}

TEST(AnswerOverSeeds, JsonTellsThem) {
  const auto json = nlohmann::json::parse(
      to_json(document_of(of({arrived("A", at({40})), arrived("B", at({41})), arrived("C", at({90}))}))));
  const auto& ranking = json["answer"]["ranking"];
  EXPECT_TRUE(ranking[0]["of_first"].is_null());
  EXPECT_EQ(ranking[0]["seeds"], 1);
  EXPECT_EQ(ranking[1]["verdict"], "undecided");
  EXPECT_EQ(ranking[1]["would_tell"], "seeds");
  EXPECT_NEAR(ranking[1]["of_first"]["value"].get<double>(), 41.0 / 40, 1e-9);
  EXPECT_LT(ranking[1]["of_first"]["low"].get<double>(), 1);
  EXPECT_EQ(ranking[2]["verdict"], "behind");
}

}  // namespace
}  // namespace dadsim::report
