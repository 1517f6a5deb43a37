// Validates three kinds of measurements: the time that frameworks add when nothing else takes time, secure aggregation,
// and rounds of dadsim's own federation (docs/frameworks.md).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "protocols/federated/federated_rounds.hpp"
#include "study/run/experiment.hpp"
#include "validation/federated_rows.hpp"
#include "validation/measured.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

constexpr const char* kPage = "docs/frameworks.md";

using MeasuredRow = std::map<std::string, std::string>;

double step_of(const scenario::Scenario& scenario) {
  return study::run_experiment(scenario, false).runs.front().step_seconds;
}

TEST(FrameworkValidation, RoundsByRatesOfOtherRowsAndOtherSources) {
  const std::vector<std::string> frameworks{"nvflare", "nvflare-stream", "flower"};
  test::DocumentedTable table(
      "frameworks", {"run", "clients", "MB", "measured s", "by nvflare", "by nvflare-stream", "by flower"}, kPage);
  test::Residuals residuals("nvflare");  // the table of Flower's own source has Flower's rows
  for (const MeasuredRow& row : test::measured("frameworks")) {
    const double measured = std::stod(row.at("measured"));
    std::vector<std::string> cells{row.at("id"), row.at("clients"), row.at("megabytes"), row.at("measured")};
    for (const std::string& framework : frameworks) {
      const test::Compared compared{step_of(test::one_machine_scenario(row, framework)), measured};
      const bool own = framework == row.at("framework");
      const bool same_source = framework.starts_with("nvflare") && row.at("framework").starts_with("nvflare");
      // The column "by" has the source of the rates that predict the row.
      if (row.at("framework").starts_with("nvflare"))
        residuals.add(fmt::format("{} {} {}", row.at("id"), same_source ? "as" : "by", framework),
                      own ? "calibrated" : "predicted", "network.framework", compared);
      cells.push_back(
          fmt::format("{:.2f} s, {}", compared.predicted, own ? "fitted" : test::percent(compared.error())));
      // Rates from another row of the same framework predict within a quarter, and rates from another source within a
      // half.
      EXPECT_LE(std::abs(compared.error()), own           ? 0.05
                                            : same_source ? 0.25
                                                          : 0.5)
          << row.at("id") << " by " << framework;
    }
    table.add(std::move(cells));
  }
  table.expect_in_document();
  residuals.expect_in_file();
}

/// Predicts single messages. A message is half a round of one client, with equal rates at both ends.
TEST(FrameworkValidation, MessagesOverGrpcByRatesOfFlower) {
  test::DocumentedTable table("framework-transfers", {"message", "source", "MB", "measured s", "by flower", "error"},
                              kPage);
  std::map<std::string, test::Residuals> residuals;
  for (const MeasuredRow& row : test::measured("framework-transfers")) {
    const std::string& line = row.at("line");
    const double round =
        step_of(test::clients_scenario("1", line.empty() ? "1Tbps" : line + "Mbps",
                                       R"(<framework name="flower" evaluate="false"/>)", row.at("megabytes")));
    const test::Compared compared{round / 2, std::stod(row.at("measured"))};
    residuals.try_emplace(row.at("source"), row.at("source"))
        .first->second.add(row.at("id") + " by flower", "predicted", "network.framework", compared);
    table.add({row.at("id"), row.at("source"), row.at("megabytes"), fmt::format("{:.2f}", compared.measured),
               fmt::format("{:.2f}", compared.predicted), test::percent(compared.error())});
  }
  table.expect_in_document();
  for (const auto& [source, of] : residuals) of.expect_in_file();
}

TEST(FrameworkValidation, SecureAggregation) {
  test::DocumentedTable table("secure-aggregation", {"clients", "drop out", "measured s", "predicted s", "error"},
                              kPage);
  for (const MeasuredRow& row : test::measured("secure-aggregation")) {
    constexpr double kNumbers = 100'000;
    const double clients = std::stod(row.at("clients"));
    const double dropped = std::stod(row.at("dropped"));
    protocols::SecureAggregation secure(16);
    secure.set_clients(static_cast<std::size_t>(clients));
    const auto left = static_cast<std::size_t>(std::lround(clients * (1 - dropped)));
    const test::Compared server{secure.server_seconds(kNumbers, left), std::stod(row.at("server"))};
    const test::Compared client{secure.client_seconds(kNumbers), std::stod(row.at("client"))};
    table.add({row.at("clients"), fmt::format("{:.0f} %", 100 * dropped), row.at("server"),
               fmt::format("{:.1f}", server.predicted), test::percent(server.error())});
    EXPECT_LE(std::abs(client.error()), 0.01);
    EXPECT_LE(std::abs(server.error()), dropped > 0 ? 0.2 : 0.02) << clients << " clients, " << dropped;
  }
  table.expect_in_document();
}

TEST(FrameworkValidation, AFederationOfOurOwn) {
  test::DocumentedTable table("testbed-federation",
                              {"MB", "measured s", "predicted s", "error", "lines alone s", "error of these"}, kPage);
  const std::vector<MeasuredRow> rows = test::measured("testbed-federation");
  const MeasuredRow& calibrated = rows.at(1);
  test::Residuals residuals("testbed-federation");
  const auto rate = [&](const char* what, double messages) {
    return messages * std::stod(calibrated.at("megabytes")) / std::stod(calibrated.at(what));
  };
  // The measured seconds of a client cover packing once and unpacking once.
  const std::string framework = fmt::format(
      R"(<framework serialise="{0}MBps" deserialise="{0}MBps" server-serialise="{1}MBps" server-deserialise="{2}MBps"
aggregate="{3}MBps"/>)",
      rate("client_s", 2), rate("pack_s", 1), rate("unpack_s", 1), rate("sum_s", 1));
  for (const MeasuredRow& row : rows) {
    const std::string platform =
        fmt::format(R"( file="{}/platforms/testbed/{}.xml"/>)", DADSIM_SOURCE_DIR, row.at("topology"));
    const std::string workers = fmt::format(
        R"(<worker hosts="client-[1-{}]" device="rtx-3090"/><aggregator host="server-1" device="xeon-8380"/>)",
        row.at("clients"));
    const double measured = std::stod(row.at("median_s"));
    const auto compared = [&](const std::string& with) {
      return test::Compared{step_of(test::round_scenario(platform, workers, with, row.at("megabytes"))), measured};
    };
    const test::Compared whole = compared(framework);
    const test::Compared lines = compared("");
    residuals.add(row.at("megabytes"), &row == &calibrated ? "calibrated" : "predicted", "network.framework", whole);
    for (const char* other : {"nvflare", "flower"}) {
      const test::Compared by = compared(fmt::format(R"(<framework name="{}" evaluate="false"/>)", other));
      residuals.add(fmt::format("{} by {}", row.at("megabytes"), other), "predicted", "network.framework", by);
    }
    table.add({row.at("megabytes"), fmt::format("{:.3f}", measured), fmt::format("{:.3f}", whole.predicted),
               &row == &calibrated ? "calibrated" : test::percent(whole.error()),
               fmt::format("{:.3f}", lines.predicted), test::percent(lines.error())});
    EXPECT_LE(std::abs(whole.error()), 0.1) << row.at("megabytes");
    EXPECT_LT(lines.error(), -0.15) << row.at("megabytes");
  }
  table.expect_in_document();
  residuals.expect_in_file();
}

}  // namespace
}  // namespace dadsim
