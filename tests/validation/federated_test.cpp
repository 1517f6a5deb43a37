// Compares exchanges over wide-area lines and rounds of federations, as others measured them, with scenarios from a
// row's columns (docs/validation.md, "Federations and wide lines").
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "study/run/experiment.hpp"
#include "validation/federated_rows.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

using Scenario = scenario::Scenario(const test::FederatedRow&, const std::string&, const test::TemporaryFolder&);

/// Returns the exposed seconds of a step.
double exchange(Scenario* scenario_of, const test::FederatedRow& row, const std::string& framework) {
  const test::TemporaryFolder folder;
  const report::Result result = study::run_experiment(scenario_of(row, framework, folder), false);
  return result.runs.front().exposed_seconds;
}

/// The function that turns rows of a source into scenarios, and their largest allowed error.
struct Form {
  std::string name;
  double most = 0;
};

Form form_of_hivemind(const test::FederatedRow& row) {
  const auto places = test::peers_of(row);
  if (places.size() == 1) return {"one place", 0.25};
  const bool single = std::ranges::all_of(places, [](const auto& place) { return place.second == 1; });
  return single ? Form{"one peer a place", 0.10} : Form{"several peers a place", 0.25};
}

/// hivemind's constants were calibrated on two and eight peers in one place. Its busy time on unequal lines was
/// observed with several peers in one place.
std::string role_of(const test::FederatedRow& row, const Form& form) {
  const int count = test::count_of(row);
  if (form.name == "one place" && (count == 2 || count == 8)) return "calibrated";
  return form.name == "several peers a place" ? "fitted" : "predicted";
}

TEST(FederatedValidation, ExchangesOfHivemind) {
  test::DocumentedTable table("hivemind", {"run", "form", "measured s", "lines alone s", "with hivemind s", "error"});
  test::Residuals residuals("hivemind");
  for (const test::FederatedRow& row : test::measured("federated")) {
    if (row.at("source") != "hivemind") continue;
    const Form form = form_of_hivemind(row);
    const double lines = exchange(test::hivemind_scenario, row, "none");
    const test::Compared with{exchange(test::hivemind_scenario, row, "hivemind"), std::stod(row.at("exchange"))};
    table.add({row.at("id"), form.name, fmt::format("{:.1f}", with.measured), fmt::format("{:.1f}", lines),
               fmt::format("{:.1f}", with.predicted), test::percent(with.error())});
    EXPECT_LE(std::abs(with.error()), form.most) << row.at("id");
    residuals.add(row.at("id"), role_of(row, form), "network.framework", with);
  }
  table.expect_in_document();
  residuals.expect_in_file();
}

TEST(FederatedValidation, RoundsOfFlower) {
  test::DocumentedTable table("flower",
                              {"run", "clients", "MB", "measured s", "lines alone s", "with Flower s", "error"});
  test::Residuals residuals("flower");
  for (const test::FederatedRow& row : test::measured("federated")) {
    if (row.at("source") != "flower") continue;
    const double lines = exchange(test::flower_scenario, row, "none");
    const test::Compared with{exchange(test::flower_scenario, row, "flower"), std::stod(row.at("exchange"))};
    const bool fitted = row.at("id") == test::kFlowerFitted;
    table.add({row.at("id"), fmt::format("{}", test::count_of(row)), row.at("payload"),
               fmt::format("{:.1f}", with.measured), fmt::format("{:.1f}", lines),
               fmt::format("{:.1f}", with.predicted), fitted ? "fitted" : test::percent(with.error())});
    EXPECT_LE(std::abs(with.error()), 0.10) << row.at("id");
    residuals.add(row.at("id"), fitted ? "calibrated" : "predicted", "network.framework", with);
  }
  table.expect_in_document();
  // Adds rows with clients and server on one machine, predicted with the rates of another framework
  // (docs/frameworks.md).
  for (const test::FederatedRow& row : test::measured("frameworks")) {
    if (row.at("framework") != "flower") continue;
    for (const char* other : {"nvflare", "nvflare-stream"}) {
      const report::Result round = study::run_experiment(test::one_machine_scenario(row, other), false);
      residuals.add(row.at("id") + " by " + other, "predicted", "network.framework",
                    {round.runs.front().step_seconds, std::stod(row.at("measured"))});
    }
  }
  residuals.expect_in_file();
}

}  // namespace
}  // namespace dadsim
