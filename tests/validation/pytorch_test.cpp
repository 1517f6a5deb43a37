// Compares steps and memory of plain PyTorch programs on one H100 with predictions (docs/validation.md).
#include <gtest/gtest.h>

#include <cstdint>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

using PytorchRow = std::map<std::string, std::string>;

enum class Told : std::uint8_t { program, nothing };

/// Predicts a row, with or without its `program` attribute.
report::RunResult predict_pytorch(const PytorchRow& row, Told told) {
  std::vector<std::string> settings{"platform.file=../../platforms/dgx-h100-pod.xml", "workers.worker.hosts=gpu-0",
                                    "workers.worker.device=h100-sxm5", "timed-as.batch=" + row.at("batch")};
  if (told == Told::program)
    settings.push_back("timed-as.program=" + (row.at("program") == "nchw" ? "eager" : row.at("program")));
  for (const std::string& setting : test::split(row.at("timed_as"), ' ')) {
    const bool library = told == Told::nothing && setting.starts_with("attention=flash");
    settings.push_back("timed-as." + (library ? "attention=flash" : setting));
  }
  const scenario::Scenario scenario =
      scenario::load_scenario(fmt::format("{}/tests/validation/{}.xml", DADSIM_SOURCE_DIR, row.at("scenario")),
                              settings, study::make_catalog());
  return study::run_experiment(scenario, false).runs.front();
}

/// Compares the rows of a group with the documented table of this group, and adds their residuals.
void expect_as_documented(const std::string& group, double bound) {
  test::DocumentedTable table("pytorch-" + group, {"case", "predicted ms", "measured ms", "error", "in the 90 % band",
                                                   "program not said", "memory predicted GB", "peak GB"});
  test::Residuals residuals("pytorch-h100-" + group);
  test::Residuals unsaid("pytorch-h100-" + group + "-unsaid");
  std::vector<test::Compared> rows;
  for (const PytorchRow& row : test::measured("pytorch-h100")) {
    if (row.at("group") != group) continue;
    const report::RunResult run = predict_pytorch(row, Told::program);
    const report::RunResult other = predict_pytorch(row, Told::nothing);
    const test::Compared seconds{run.step_seconds, std::stod(row.at("seconds"))};
    const test::Compared without{other.step_seconds, seconds.measured};
    const auto& band = run.step_band.value();
    const bool held = seconds.measured >= band.low && seconds.measured <= band.high;
    residuals.add(row.at("case"), row.at("fitted").empty() ? "predicted" : "fitted", test::parts_in_words(band.parts),
                  seconds);
    unsaid.add(row.at("case"), "predicted", test::parts_in_words(other.step_band.value().parts), without);
    table.add({row.at("case"), fmt::format("{:.1f}", 1e3 * seconds.predicted),
               fmt::format("{:.1f}", 1e3 * seconds.measured), test::percent(seconds.error()), held ? "yes" : "no",
               test::percent(without.error()), fmt::format("{:.1f}", 1e-9 * run.memory.total()),
               fmt::format("{:.1f}", 1e-9 * std::stod(row.at("peak")))});
    rows.push_back(seconds);
  }
  EXPECT_LE(test::mean_absolute_error(rows), bound);
  table.expect_in_document();
  residuals.expect_in_file();
  unsaid.expect_in_file();
}

TEST(PytorchValidation, WordsAreAsDocumented) { expect_as_documented("words", 0.1); }
TEST(PytorchValidation, ImagesAreAsDocumented) { expect_as_documented("images", 0.3); }

}  // namespace
}  // namespace dadsim
