// Runs scenarios/clinics-private.xml on drawn tables. One result shows what privacy costs clinics, one of which is
// absent half of the time.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/random.hpp"

namespace dadsim::cli {
namespace {

/// Writes tables of seven clinics with 180 to 1,120 patients. Features are in standard deviations from the mean of
/// healthy patients, so they need no scaling. The risk follows from a sum of features, and chance. Each clinic has more
/// ill patients than the one before.
void draw_clinics(const std::filesystem::path& folder) {
  const std::vector<int> patients{180, 260, 340, 480, 620, 800, 1120};
  const std::vector<double> weights{0.9, 0.7, 0.6, 0.5, -0.5, 0.4, 0.3, 0.8};
  for (std::size_t clinic = 0; clinic < patients.size(); ++clinic) {
    std::ofstream table(folder / ("clinic-" + std::to_string(clinic + 1) + ".csv"));
    table << "age,pressure,glucose,cholesterol,activity,weight,creatinine,smoking,risk\n";
    for (int patient = 0; patient < patients[clinic]; ++patient) {
      RandomStream random(7, Purpose::test, static_cast<std::uint32_t>(clinic), static_cast<std::uint32_t>(patient));
      boost::random::normal_distribution<double> normal;
      double score = 0.5 * normal(random);
      for (const double weight : weights) {
        const double measured = normal(random) + 0.25 * (static_cast<double>(clinic) - 3) * weight;
        score += weight * measured;
        table << std::round(100 * measured) / 100 << ',';
      }
      table << (score < -0.8 ? "low" : score < 0.8 ? "medium" : "high") << '\n';
    }
  }
}

TEST(ClinicsPrivate, OneTableAnswersWhatPrivacyCosts) {
  const test::QuickKernels quick;
  const test::TemporaryFolder folder;
  draw_clinics(folder.path());
  const test::Outcome outcome = test::run_dadsim(
      {"scenarios/clinics-private.xml", "--verbose", "--json", (folder.path() / "result.json").string()},
      DADSIM_SOURCE_DIR, {}, {{"DADSIM_DATA", folder.path().string()}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json result = nlohmann::json::parse(test::read_file(folder.path() / "result.json"));
  std::map<std::string, double> accuracy;
  for (const auto& run : result["runs"]) {
    const std::string label = run["label"];
    accuracy[label] = run["final_accuracy"];
    EXPECT_GT(run["total_seconds"], 0) << label;
    EXPECT_GT(run["total_bytes"], 0) << label;
    const auto& took_part = run["event_run"]["per_worker"]["used"];
    ASSERT_EQ(took_part.size(), 7U) << label;
    EXPECT_LT(took_part[3], took_part[0]) << label << ": the fourth is away half of the time";
    const bool is_private = label.starts_with("DP-") || label.starts_with("LSG");
    EXPECT_EQ(run["epsilon"].is_number(), is_private) << label;
    if (!is_private) continue;
    // ε never exceeds the requested value, and clinics that take part in all planned steps spend nearly all of it.
    EXPECT_LE(run["epsilon"], 3.0 + 1e-4) << label;
    EXPECT_GT(run["epsilon"], 2) << label;
    EXPECT_NE(run["notes"].dump().find("spent ε ="), std::string::npos) << label;
  }
  const double open = accuracy.at("gradient sharing");
  EXPECT_GT(open, 0.7);
  for (const char* hides_patients : {"DP-SGD", "LSG, half", "DP-FedAvg, a patient hidden"}) {
    EXPECT_GT(accuracy.at(hides_patients), accuracy.at("DP-FedAvg, a clinic hidden")) << hides_patients;
    EXPECT_GT(accuracy.at(hides_patients), 0.5) << hides_patients;
  }
  EXPECT_NE(outcome.out.find("ε"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("none"), std::string::npos) << "of those without noise";
}

}  // namespace
}  // namespace dadsim::cli
