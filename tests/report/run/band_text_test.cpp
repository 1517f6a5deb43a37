#include <gtest/gtest.h>

#include "report/run/answer.hpp"
#include "report/run/result_document.hpp"
#include "report/run/table.hpp"
#include "report/sample.hpp"
#include "report/text/amounts.hpp"

namespace dadsim::report {
namespace {

/// Returns a run with these seconds of computing and of sending per step. Its time to the target is 20 steps.
RunResult banded_run(const std::string& label, double computing, double sending, const std::string& collective) {
  RunResult run = sample_run("dad", label);
  run.step_seconds = computing + sending;
  run.target_reached = true;
  run.target_step = 20;
  run.target_seconds = 20 * run.step_seconds;
  StepBand band;
  band.parts = {{"compute.same-workload", computing, "computing on a GPU"}, {"network.tcp", sending, collective}};
  const estimate::Band factors = estimate::band_of(band.parts);
  band.low = run.step_seconds * factors.low;
  band.high = run.step_seconds * factors.high;
  run.step_band = band;
  return run;
}

TEST(BandText, SaysAUnitOnceWhereItIsTheSame) {
  EXPECT_EQ(seconds_with_interval(19.4, 17.2, 22.9), "19.4 s (17.2 … 22.9)");
  EXPECT_EQ(seconds_with_interval(1.1, 0.9, 1.2), "1.10 s (900 ms … 1.20 s)");
  EXPECT_EQ(seconds_with_interval(0.95, 0.9, 1.2), "950 ms (900 ms … 1.20 s)");
  EXPECT_EQ(seconds_with_interval(300, 250, 400), "5 min 0 s (4 min 10 s … 6 min 40 s)");
  EXPECT_EQ(seconds_with_band(2, std::nullopt), "2.00 s");
}

TEST(BandText, TheAnswerSaysWhatCannotBeToldApart) {
  Result result = sample_result();
  result.runs = {banded_run("A", 1, 1, "all-reduce as ring"), banded_run("B", 1.02, 1.02, "all-gather as direct")};
  const std::string open = as_paragraph(answer_to(result).statements);
  EXPECT_TRUE(open.starts_with("A and B cannot be told apart (1.02; 0.")) << open;
  result.runs[1] = banded_run("B", 1.02, 1.02, "all-reduce as ring");
  EXPECT_TRUE(as_paragraph(answer_to(result).statements)
                  .starts_with("A and B are equal within 5 %: they reach 95 % in 40.0 s and 40.8 s."))
      << as_paragraph(answer_to(result).statements);
  result.runs[1] = banded_run("B", 4, 4, "all-gather as direct");
  EXPECT_NE(as_paragraph(answer_to(result).statements).find("faster than B"), std::string::npos)
      << as_paragraph(answer_to(result).statements);
}

}  // namespace
}  // namespace dadsim::report
