#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "report/run/answer.hpp"
#include "report/run/result_document.hpp"
#include "report/sample.hpp"
#include "report/text/amounts.hpp"
#include "report/text/text_blocks.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string verdict_on(std::vector<RunResult> runs) {
  Result result = sample_result();
  result.runs = std::move(runs);
  return as_paragraph(answer_to(result).statements);
}

TEST(Table, SaysWhatSitesWithWeightsOfTheirOwnAreWorth) {
  Result result = sample_result();
  EXPECT_EQ(to_table(document_of(result)).find("the average of the sites' weights"), std::string::npos);
  result.runs[0].curve[1].sites = step::SitesEvaluation{0.7, 0.95, 0.5, {0.94, 0.98}};
  result.runs[0].curve[2].sites = step::SitesEvaluation{0.6, 0.96, 0.25, {0.92, 0.99}};
  std::string text = to_table(document_of(result));
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, " ");
  EXPECT_NE(
      text.find("rank-dad: the average of the sites' weights has an accuracy of 96.0 %, single sites have 92.0 % to "
                "99.0 %; their mean squared distance from the average is 0.25, and was 0.5 at most (after 2 steps)."),
      std::string::npos)
      << text;
}

TEST(Table, ReadsLikeThis) {
  Result result = sample_result();
  result.runs[0].step_band.reset();
  EXPECT_EQ(
      to_table(document_of(result)),
      "rank-dad reaches 95 % in 6.50 s; no other run shares.\n"
      "\n"
      "          accuracy, %     to 95 %          time per step        per worker and step   sent\n"
      "run       final  best  steps    time     all  compute  exposed       up        down   in all\n"
      "────────────────────────────────────────────────────────────────────────────────────────────\n"
      "rank-dad   94.0  96.0      2  6.50 s  3.00 s   1.00 s   2.00 s  1.00 kB     1.67 kB  16.0 kB\n"
      "\n"
      "rank-dad: 56 % of the step was bandwidth (link up 33 %, link down 22 %), 33 % computing (site-1), 11 % latency "
      "(up).\n"
      "rank-dad: effective rank per site, epoch 1 → 2: dense1 8.0 → 5.5, dense2 4.0 → 2.2.\n"
      "\n"
      "Note on rank-dad: Ranks were mapped by depth.\n"
      "\n"
      "Assumed: Devices of unknown memory were not checked for memory.\n"
      "Network model: CM02, no cross-traffic\n"
      "Learned on and timed as MLP 4-3-2 (23 parameters), batch 32 per worker.\n");
  EXPECT_TRUE(
      summary_of(document_of(result), false)
          .all()
          .ends_with(
              "\n"
              "rank-dad: 56 % bandwidth (link up 33 %), 33 % computing (site-1), 11 % latency (up).\n"
              "\n"
              "Based on 1 assumption and a model of the network; --verbose shows them, effective ranks and 1 note.\n"))
      << summary_of(document_of(result), false).all();
}

TEST(Table, OfSeveralSeedsHasTheirMeansAndTheTimeOfTheAnswer) {
  Result result = sample_result();
  result.runs.resize(1);
  RunResult& run = result.runs[0];
  run.arrivals = {estimate::Arrival{4, 6.5, 2}, estimate::Arrival{6.5, 9, 3}, estimate::Arrival{6.5, 11, 4}};
  run.best_accuracies = {0.96, 0.97, 0.98};
  run.final_accuracies = {0.94, 0.95, 0.96};
  const Answer answer = answer_to(result);
  const Answer::Place& first = answer.ranking.at(0);
  EXPECT_NEAR(first.seconds, (6.5 + 9 + 11) / 3, 1e-9);
  const std::string time = seconds_with_interval(first.seconds, first.low.value(), first.high.value());
  const std::vector<std::string> lines = lines_of(to_table(document_of(result)));
  const auto row = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("rank-dad  "); });
  ASSERT_NE(row, lines.end());
  EXPECT_NE(row->find("95.0 ± 1.0"), std::string::npos) << *row;
  EXPECT_NE(row->find("97.0 ± 1.0"), std::string::npos) << *row;
  EXPECT_NE(row->find("3 ± 1"), std::string::npos) << *row;
  EXPECT_NE(row->find("  " + time + "  "), std::string::npos) << *row << "\n" << time;
  run.arrivals[2].reset();
  EXPECT_NE(to_table(document_of(result)).find("  missed by 1 of 3  "), std::string::npos)
      << to_table(document_of(result));
}

TEST(Table, FitsATerminal) {
  Result result = sample_result();
  result.runs = {sample_run("rank-dad", "a very long label indeed, far too long"), sample_run("dad", "dad")};
  result.assumptions = {{"no-barrier-runs"}};
  const std::string wide = to_table(document_of(result));
  fit_tables_to(80);
  const std::string narrow = to_table(document_of(result));
  fit_tables_to(kTableWidth);
  EXPECT_EQ(to_table(document_of(result)), wide);
  for (const std::string& line : lines_of(narrow)) EXPECT_LE(display_width(line), 80) << line;
  // Columns that do not fit follow below, with the same headings and runs.
  for (const char* heading : {"accuracy, %", "to 95 %", "time per step", "per worker and step", "sent"})
    EXPECT_NE(narrow.find(heading), std::string::npos) << heading << narrow;
  std::size_t rows = 0;
  for (const std::string& line : lines_of(narrow)) rows += line.starts_with("dad  ") ? 1 : 0;
  EXPECT_GE(rows, 2U) << narrow;
}

TEST(Table, SaysHowAnEventDrivenRunWent) {
  Result result = sample_result();
  result.runs.push_back(sample_event_driven_run());
  const std::string text = to_table(document_of(result));
  for (const char* sentence :
       {"time per step or update",
        "simulated: of its workers' time 20 % went into computing, 70 % into waiting for the network or for others, 10 "
        "% "
        "they were down.",
        "simulated: 3 rounds or updates; clients began to take part 6 times: 4 (67 %) entered the model, 1 came too "
        "late, "
        "1 never came.",
        "simulated: staleness (updates of the model between read and write): mean 0.5, at most 2.",
        "simulated: 1.50 s of computing and 1.00 kB sent were wasted, since they entered no model.",
        "simulated: survived 1 outage of a host.", "simulated: drift 0.25.",
        "simulated: learned in 7 operations; 2 reused from another run."}) {
    std::string flat = text;
    for (std::size_t at = 0; (at = flat.find("\n  ", at)) != std::string::npos;) flat.replace(at, 3, " ");
    EXPECT_NE(flat.find(sentence), std::string::npos) << sentence << "\n" << text;
  }
  EXPECT_EQ(text.find("no step was taken"), std::string::npos);
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), kTableWidth) << line;
}

TEST(Table, SaysRoundsWhereNothingWasLearned) {
  Result result = sample_result();
  RunResult run = sample_event_driven_run();
  run.target_reached = false;
  run.final_accuracy = run.best_accuracy = std::numeric_limits<double>::quiet_NaN();
  result.runs = {run};
  result.timing_only = true;
  EXPECT_TRUE(as_paragraph(answer_to(result).statements).starts_with(run.spec.label + ": "))
      << as_paragraph(answer_to(result).statements);
  EXPECT_NE(as_paragraph(answer_to(result).statements).find(" an hour. "), std::string::npos)
      << as_paragraph(answer_to(result).statements);
  const std::string table = to_table(document_of(result));
  for (const char* nonsense : {"nan", "accuracy", "()", "Time to accuracy"})
    EXPECT_EQ(table.find(nonsense), std::string::npos) << table;
  EXPECT_NE(table.find("rounds/h"), std::string::npos) << table;
  result.runs.front().steps = 0;
  EXPECT_EQ(as_paragraph(answer_to(result).statements),
            "Nothing was learned (--timing-only): times are known, accuracies are not.");
}

TEST(Table, StaysAlignedAndNarrow) {
  Result result = sample_result();
  RunResult huge = sample_run("dad", "a very long label indeed, far too long, ärztliche Daten");
  huge.target_seconds = 59 * 60 + 59;
  huge.target_step = 100'000'000;
  huge.step_seconds = huge.compute_seconds = huge.exposed_seconds = 59 * 60 + 59;
  huge.final_accuracy = huge.best_accuracy = 1;
  huge.bounds[0].resource = "hôpital-öst → 病院";
  result.runs = {huge, sample_run("pooled", "病院"), sample_run("edad", "é"), sample_run("dad", "d")};
  result.target_accuracy = 0.9876543;
  const std::vector<std::string> lines = lines_of(to_table(document_of(result)));
  for (const std::string& line : lines) EXPECT_LE(display_width(line), kTableWidth) << line;
  const auto rule = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("─"); });
  ASSERT_NE(rule, lines.end());
  for (auto line = rule - 1; line <= rule + static_cast<std::ptrdiff_t>(result.runs.size()); ++line) {
    EXPECT_EQ(display_width(*line), display_width(*rule)) << *line;
  }
}

TEST(Table, SaysWhatWasNotSimulated) {
  Result result = sample_result();
  EXPECT_EQ(to_table(document_of(result)).find("different steps"), std::string::npos);
  result.runs[0].network.sampling = {750, 32, 0.0234, 0.00312};
  EXPECT_NE(to_table(document_of(result))
                .find("rank-dad: of 750 different steps, 32 were simulated and the others interpolated by their bytes. "
                      "The error is 2.3 % for a single step\n"
                      "  (root mean square) and 0.31 % for the mean step (standard error)."),
            std::string::npos)
      << to_table(document_of(result));
}

TEST(Table, SaysThatTheTargetWasNeverReached) {
  Result result = sample_result();
  result.runs[0].target_reached = false;
  EXPECT_NE(to_table(document_of(result)).find("96.0      –  never  3.00 s"), std::string::npos)
      << to_table(document_of(result));
}

TEST(Table, DoesNotRoundAShareAway) {
  Result result = sample_result();
  result.runs[0].bounds = {
      {"up", "bandwidth", 2.99, 0.9967}, {"site-1", "compute", 0.006, 0.002}, {"up", "latency", 0, 0}};
  EXPECT_NE(
      to_table(document_of(result)).find("rank-dad: 100 % of the step was bandwidth (link up), under 1 % computing."),
      std::string::npos)
      << to_table(document_of(result));
}

TEST(Table, SaysWhatARunWasTimedAs) {
  Result result = sample_result();
  result.timed_as = "ViT-B/16, batch 32 per worker";
  result.timed_as_other = true;
  EXPECT_NE(to_table(document_of(result))
                .find("Learned on MLP 4-3-2 (23 parameters), batch 32 per worker, timed as ViT-B/16, batch "
                      "32 per worker."),
            std::string::npos);
}

TEST(Table, SaysThatNothingWasTimed) {
  Result result = sample_result();
  result.runs[0].bounds.clear();
  EXPECT_NE(to_table(document_of(result)).find("rank-dad: no step was taken"), std::string::npos);
}

TEST(Table, RefusesRanksWithoutNames) {
  Result result = sample_result();
  result.layer_names.pop_back();
  EXPECT_THROW(to_table(document_of(result)), std::logic_error);
}

TEST(Verdict, NamesTheFastestAgainstTheNextAndGradientSharing) {
  EXPECT_EQ(verdict_on({verdict_run("gradient-sharing", 0.97, 50), verdict_run("dad", 0.97, 20),
                        verdict_run("edad", 0.96, 8)}),
            "edad reaches 95 % first, in 8.00 s: 2.50 times faster than dad (20.0 s) and 6.25 times faster than "
            "gradient-sharing (50.0 s).");
  EXPECT_EQ(verdict_on({verdict_run("gradient-sharing", 0.97, 50), verdict_run("dad", 0.97, 20)}),
            "dad reaches 95 % first, in 20.0 s: 2.50 times faster than gradient-sharing (50.0 s).");
  EXPECT_EQ(verdict_on({verdict_run("gradient-sharing", 0.97, 5), verdict_run("dad", 0.97, 5.1)}),
            "gradient-sharing and dad are equal within 5 %: they reach 95 % in 5.00 s and 5.10 s.");
}

TEST(Verdict, LeavesTheReferenceEndsOut) {
  EXPECT_EQ(verdict_on({verdict_run("pooled", 0.97, 1), verdict_run("no-sharing", 0.97, 2),
                        verdict_run("dad", 0.97, 20), verdict_run("edad", 0.97, 20)}),
            "dad and edad are equal: they reach 95 % in 20.0 s.");
  EXPECT_EQ(verdict_on({verdict_run("pooled", 0.97, 1)}), "No run shares anything between workers: no run wins.");
}

TEST(Verdict, SaysWhoDidNotReachTheTarget) {
  EXPECT_EQ(
      verdict_on(
          {verdict_run("gradient-sharing", 0.94, -1), verdict_run("dad", 0.97, 20), verdict_run("edad", 0.97, 30)}),
      "dad reaches 95 % first, in 20.0 s: 1.50 times faster than edad (30.0 s); gradient-sharing did not reach it.");
  EXPECT_EQ(verdict_on({verdict_run("gradient-sharing", 0.94, -1), verdict_run("dad", 0.97, 20)}),
            "dad reaches 95 % first, in 20.0 s; no other sharing run reached it.");
  EXPECT_EQ(verdict_on({verdict_run("pooled", 0.97, 1), verdict_run("dad", 0.93, -1), verdict_run("edad", 0.945, -1)}),
            "No sharing run reached 95 %: edad came nearest with 94.5 %.");
  EXPECT_EQ(verdict_on({verdict_run("dad", 0.93, -1)}),
            "The only sharing run did not reach 95 %: dad came nearest with 93.0 %.");
}

TEST(Verdict, DividesByNoZero) {
  EXPECT_EQ(verdict_on({verdict_run("dad", 0.97, 0), verdict_run("edad", 0.97, 3)}),
            "dad reaches 95 % first, in 0 s: before edad (3.00 s).");
  EXPECT_EQ(verdict_on({verdict_run("dad", 0.97, 0), verdict_run("edad", 0.97, 0)}),
            "dad and edad are equal: they reach 95 % in 0 s.");
}

TEST(Table, SaysWhatCorrectionsMendAndWhereTheyHurt) {
  ShiftEvaluation evaluation;
  evaluation.arms = {"source", "batch statistics", "DMC on inputs"};
  evaluation.rows = {{"none", 0, 0, 128, {0.9, 0.9, 0.895}},
                     {"gain-offset", 3, 0, 128, {0.5, 0.7, 0.875}},
                     {"none", 0, 0.1, 128, {0.9, 0.9, 0.6}}};
  evaluation.quantiles = 64;
  evaluation.input_bytes = 64 * 4 * 100;
  evaluation.samples = 1000;
  evaluation.fewest = evaluation.most = 500;
  EXPECT_EQ(
      shift_table("fedavg", evaluation),
      "fedavg: accuracy of its last model on shifted data, % (* best, ↓ below source)\n"
      "held-back data                   batch  source   batch statistics   DMC on inputs\n"
      "──────────────────────────────────────────────────────────────────────────────────\n"
      "as they are                        128    90.0*              90.0            89.5↓\n"
      "gain-offset 3                      128    50.0               70.0            87.5*\n"
      "as they are, classes ~ Dir(0.1)    128    90.0*              90.0            60.0↓\n"
      "fedavg: batch statistics is never worse than the uncorrected model.\n"
      "fedavg: DMC on inputs lowers the accuracy in 2 of 3 rows, most by 30.0 points (as they are, classes ~ Dir(0.1), "
      "batches of 128).\n"
      "fedavg: the model would be sent with 64 quantiles of each unit in training, averaged over sites: 25.6 kB for "
      "the "
      "inputs. Each site\n"
      "  corrects its own test batches from 500 of 1,000 held-back samples; a larger batch holds all samples of the "
      "site.\n");
}

}  // namespace
}  // namespace dadsim::report
