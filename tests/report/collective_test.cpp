#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/collective/collective_report.hpp"
#include "report/documented_fields.hpp"
#include "report/text/text_blocks.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a report on four ranks over TCP, in which the second size is simulated by flow.
CollectiveReport sample(Operation operation) {
  CollectiveReport report;
  report.version = "0.1.0";
  report.simgrid = "3.32";
  report.network_model = "shared links";
  report.platform_file = "lab.xml";
  report.platform_description = "4 desktops";
  report.operation = operation;
  report.hosts = {"a", "b", "c", "d"};
  report.rows = {{.size_bytes = 4000,
                  .block_bytes = 1000,
                  .algorithm = "ring",
                  .compared = {},
                  .fidelity = spec::Fidelity::message,
                  .warm_seconds = 2e-3,
                  .cold_seconds = 5e-3,
                  .messages = 24},
                 {.size_bytes = 8002,
                  .block_bytes = 2000.5,
                  .algorithm = "ring",
                  .compared = {},
                  .fidelity = spec::Fidelity::flow,
                  .warm_seconds = 4e-3,
                  .cold_seconds = {},
                  .messages = 24}};
  report.network.fidelity_notes = {Statement{"flow-by-size"}.with("fault", std::string("too many messages"))};
  report.network.links = {{"ethernet-1g", "tcp", "in order", 1.25e8, 0.9564, 8}};
  return report;
}

std::string text_of(const CollectiveReport& report) { return summary_of(document_of(report), false).all(); }

TEST(CollectiveReport, CountsBusBandwidthAsNcclTestsDo) {
  // Bus factors are those of GetBw in NVIDIA/nccl-tests, src/*.cu.
  EXPECT_DOUBLE_EQ(bus_factor(Operation::all_reduce, 8), 2 * 7.0 / 8);
  for (const Operation one : {Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all,
                              Operation::gather, Operation::scatter}) {
    EXPECT_DOUBLE_EQ(bus_factor(one, 8), 7.0 / 8) << to_string(one);
  }
  for (const Operation one : {Operation::broadcast, Operation::send, Operation::neighbour_exchange}) {
    EXPECT_DOUBLE_EQ(bus_factor(one, 8), 1) << to_string(one);
  }
  const CollectiveReport report = sample(Operation::all_gather);
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(report, report.rows[0]), 2e6);
  EXPECT_DOUBLE_EQ(bus_bandwidth(report, report.rows[0]), 1.5e6);
  EXPECT_DOUBLE_EQ(average_bus_bandwidth(report), 0.5 * (1.5e6 + 0.75 * 8002 / 4e-3));
  EXPECT_EQ(count_of(report.rows[1]), 500);
}

TEST(CollectiveReport, TakesTheTimeOfTheConnectionsThatAreAskedFor) {
  CollectiveReport report = sample(Operation::all_reduce);
  EXPECT_EQ(seconds_of(report, report.rows[0]), 2e-3);
  report.cold = true;
  EXPECT_EQ(seconds_of(report, report.rows[0]), 5e-3);
  EXPECT_EQ(seconds_of(report, report.rows[1]), 4e-3);
}

TEST(CollectiveReport, ReadsLikeThis) {
  CollectiveReport report = sample(Operation::all_gather);
  report.per_rank = true;
  EXPECT_EQ(text_of(report),
            "all-gather on lab.xml (4 desktops), 4 ranks: a, b, c, d.\n"
            "Size: all ranks' blocks together. GB/s are 10⁹ byte/s; bus bandwidth is 0.75 × algorithm "
            "bandwidth, as in "
            "nccl-tests. Times are\n"
            "  those on warm connections.\n"
            "\n"
            "  size   per rank       count   algorithm   fidelity     time     algbw     busbw     cold\n"
            "   (B)        (B)   (float32)                            (µs)    (GB/s)    (GB/s)     (µs)\n"
            "  4000       1000         250   ring        message    2000.0   0.00200   0.00150   5000.0\n"
            "  8002    2000.50         500   ring        flow       4000.0   0.00200   0.00150        –\n"
            "\n"
            "Average bus bandwidth: 0.00150 GB/s.\n"
            "Flow assumes warm connections, without slow start.\n"
            "Fidelity: by flow: too many messages.\n"
            "Links: 8 ethernet-1g of 1 Gbit/s, transport tcp, efficiency 0.9564.\n"
            "Links as tcp: in order.\n"
            "Network model: shared links\n");
}

TEST(CollectiveReport, SaysBetweenWhatMeasurementsAreExpected) {
  CollectiveReport report = sample(Operation::all_reduce);
  report.rows[0].category = "network.tcp";
  report.rows[0].band = {0.75, 1.25};
  const std::string table = text_of(report);
  EXPECT_NE(table.find("1500.0 … 2500.0"), std::string::npos) << table;
  EXPECT_NE(table.find("(network.tcp: fitted and held against transfers over"), std::string::npos) << table;
  const Json json = Json::parse(to_json(document_of(report)));
  EXPECT_EQ(json["sizes"][0]["low_us"], 1500.0);
  EXPECT_EQ(json["sizes"][0]["high_us"], 2500.0);
  EXPECT_FALSE(json["sizes"][1].contains("low_us")) << "of messages that go nowhere nothing is said";
  EXPECT_NE(to_csv(document_of(report)).find(",1500,2500,network.tcp\n"), std::string::npos)
      << to_csv(document_of(report));
  report.cold = true;
  EXPECT_EQ(Json::parse(to_json(document_of(report)))["sizes"][0]["high_us"], 6250.0);
}

TEST(CollectiveReport, HasNoColdColumnWhereItMakesNoDifference) {
  CollectiveReport report = sample(Operation::broadcast);
  for (CollectiveRow& row : report.rows) row.cold_seconds.reset();
  EXPECT_EQ(text_of(report).find("cold"), std::string::npos);
  EXPECT_TRUE(Json::parse(to_json(document_of(report)))["sizes"][0]["cold_us"].is_null());
}

TEST(CollectiveReport, StaysWithinTheWidthOfATable) {
  CollectiveReport report = sample(Operation::send);
  report.hosts.assign(100, "a-host-with-rather-a-long-name");
  for (int i = 0; i < 50; ++i) report.pairs.emplace_back(i, i + 50);
  report.network.links[0].model = std::string(40, 'x') + " " + std::string(100, 'y') + " z";
  std::istringstream lines(text_of(report));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), kTableWidth) << line;
}

TEST(CollectiveReport, DocumentsEveryFieldAndNoOther) {
  CollectiveReport report = sample(Operation::send);
  report.pairs = {{0, 1}};
  report.root = 0;
  report.rows.front().compared =
      Statement{"compared-by-flow", {"tree"}}.with("seconds", std::vector<double>{1e-3}).with("slower", 0.0);
  report.rows.front().protocol = "LL";
  report.rows.front().category = "network.tcp";
  report.rows.front().quicker = Statement{"quicker-in-library", {"tree"}}
                                    .with("protocol", std::string("Simple"))
                                    .with("seconds", 5e-4)
                                    .with("saving", 0.5)
                                    .with("setting", std::string("NCCL_ALGO=Tree"));
  report.measured_file = "all_reduce.log";
  report.rows.front().measured = CollectiveRow::Measured{1e-3};
  EXPECT_EQ(test::fields_of(to_json(document_of(report))), test::documented_in("output-collective.md", "JSON"));
}

TEST(CollectiveReport, DocumentsEveryColumnAndNoOther) {
  CollectiveReport report = sample(Operation::all_reduce);
  report.measured_file = "all_reduce.log";
  const std::string csv = to_csv(document_of(report));
  std::istringstream header(csv.substr(0, csv.find('\n')));
  std::set<std::string> columns;
  for (std::string column; std::getline(header, column, ',');) columns.insert(column);
  EXPECT_EQ(columns, test::documented_in("output-collective.md", "CSV"));
}

TEST(CollectiveReport, WritesTheSameNumbersEverywhere) {
  CollectiveReport report = sample(Operation::all_gather);
  report.cold = true;
  const Json json = Json::parse(to_json(document_of(report)));
  EXPECT_EQ(json["connections"], "cold");
  EXPECT_EQ(json["bus_factor"], 0.75);
  EXPECT_EQ(json["sizes"][0],
            Json::parse(R"({"size_bytes": 4000.0, "block_bytes": 1000.0, "count_float32": 250.0, "algorithm": "ring",
                            "fidelity": "message", "messages": 24.0, "time_us": 5000.0, "algbw_gb_per_s": 0.0008,
                            "busbw_gb_per_s": 0.0006, "warm_us": 2000.0, "cold_us": 5000.0})"));
  const std::string csv = to_csv(document_of(report));
  EXPECT_NE(csv.find("\nall-gather,4,cold,4000,1000,250,ring,message,24,5000,0.0008,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",4000,,,,\n"), std::string::npos) << csv;
}

TEST(CollectiveReport, SaysHowFarPredictedIsFromMeasured) {
  CollectiveReport report = sample(Operation::all_reduce);
  report.measured_file = "all_reduce.log";
  report.rows[0].measured = CollectiveRow::Measured{1e-3, 1.5e-3};  // predicted: 2 ms
  EXPECT_EQ(agreement_of(report).rows, 1U);
  EXPECT_DOUBLE_EQ(agreement_of(report).mean, 2);
  report.rows[1].measured = CollectiveRow::Measured{8e-3};  // predicted: 4 ms
  const Agreement agreement = agreement_of(report);
  EXPECT_DOUBLE_EQ(agreement.mean, 1);  // √(2 · ½)
  EXPECT_DOUBLE_EQ(agreement.least, 0.5);
  EXPECT_DOUBLE_EQ(agreement.greatest, 2);
  EXPECT_DOUBLE_EQ(agreement.mean_error, 0.75);  // (1 + ½) ÷ 2
  const Json json = Json::parse(to_json(document_of(report)));
  EXPECT_EQ(json["sizes"][0]["predicted_over_measured"], 2.0);
  EXPECT_EQ(json["sizes"][0]["measured_in_place_us"], 1500.0);
  EXPECT_TRUE(json["sizes"][1]["measured_in_place_us"].is_null());
  EXPECT_EQ(json["measured"]["mean_error"], 0.75);
  EXPECT_NE(to_csv(document_of(report)).find(",1000,1500,2\n"), std::string::npos) << to_csv(document_of(report));
  EXPECT_NE(to_csv(document_of(report)).find(",8000,,0.5\n"), std::string::npos) << to_csv(document_of(report));
  const std::string table = text_of(report);
  EXPECT_NE(table.find("+100.0"), std::string::npos) << table;
  EXPECT_NE(table.find("-50.0"), std::string::npos) << table;
  EXPECT_NE(table.find("1 (geometric mean), from 0.5 to 2; mean error 75.0 %"), std::string::npos) << table;
}

TEST(CollectiveReport, SaysNothingWhereThereIsNoNumber) {
  CollectiveReport report = sample(Operation::all_reduce);
  report.rows = {{.size_bytes = 4000,
                  .block_bytes = 4000,
                  .algorithm = "ring",
                  .compared = {},
                  .fidelity = spec::Fidelity::message,
                  .warm_seconds = 0,
                  .cold_seconds = {},
                  .messages = 0}};  // with one rank, there are no messages
  EXPECT_TRUE(Json::parse(to_json(document_of(report)))["sizes"][0]["algbw_gb_per_s"].is_null());
  EXPECT_TRUE(Json::parse(to_json(document_of(report)))["average_busbw_gb_per_s"].is_null());
  EXPECT_EQ(to_csv(document_of(report)).find("inf"), std::string::npos);
  EXPECT_EQ(text_of(report).find("inf"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::report
