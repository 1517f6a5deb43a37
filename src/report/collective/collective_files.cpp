#include <fmt/format.h>

#include <cmath>

#include "report/collective/collective_table.hpp"
#include "report/text/json_values.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

Json to_json_object(const CollectiveReport& report, const CollectiveRow& row) {
  Json json{{"size_bytes", number(row.size_bytes)},
            {"block_bytes", number(row.block_bytes)},
            {"count_float32", number(count_of(row))},
            {"algorithm", row.algorithm},
            {"fidelity", to_string(row.fidelity)},
            {"messages", number(row.messages)},
            {"time_us", number(seconds_of(report, row) * 1e6)},
            {"algbw_gb_per_s", number(algorithm_bandwidth(report, row) / 1e9)},
            {"busbw_gb_per_s", number(bus_bandwidth(report, row) / 1e9)},
            {"warm_us", number(row.warm_seconds * 1e6)},
            {"cold_us", row.cold_seconds ? number(*row.cold_seconds * 1e6) : Json(nullptr)}};
  if (!row.category.empty()) {
    json["low_us"] = number(row.band.low * seconds_of(report, row) * 1e6);
    json["high_us"] = number(row.band.high * seconds_of(report, row) * 1e6);
    json["category"] = row.category;
  }
  if (!row.protocol.empty()) json["protocol"] = row.protocol;
  if (row.compared) json["compared"] = in_json(*row.compared);
  if (row.quicker) json["quicker"] = in_json(*row.quicker);
  if (row.measured) {
    json["measured_us"] = number(row.measured->seconds * 1e6);
    json["measured_in_place_us"] =
        row.measured->in_place_seconds ? number(*row.measured->in_place_seconds * 1e6) : Json(nullptr);
    json["predicted_over_measured"] = number(seconds_of(report, row) / row.measured->seconds);
  }
  return json;
}

Json links_and_note(const step::NetworkUse& network) {
  Json json;
  json["fidelity_notes"] = in_json(network.fidelity_notes);
  Json& links = json["links"] = Json::array();
  for (const step::NetworkUse::LinkClass& one : network.links) {
    links.push_back({{"class", one.name},
                     {"directions", number(one.links)},
                     {"bytes_per_second", number(one.bandwidth)},
                     {"transport", one.transport},
                     {"efficiency", number(one.efficiency)},
                     {"model", one.model}});
  }
  return json;
}

std::string band_cells(const CollectiveReport& report, const CollectiveRow& row) {
  if (row.category.empty()) return ",,,";
  const double seconds = seconds_of(report, row);
  return fmt::format(",{},{},{}", cell(row.band.low * seconds * 1e6), cell(row.band.high * seconds * 1e6),
                     row.category);
}

std::string measured_cells(const CollectiveReport& report, const CollectiveRow& row) {
  if (!row.measured) return ",,,";
  const std::optional<double> in_place = row.measured->in_place_seconds;
  return fmt::format(",{},{},{}", cell(row.measured->seconds * 1e6), in_place ? cell(*in_place * 1e6) : "",
                     cell(seconds_of(report, row) / row.measured->seconds));
}

}  // namespace

std::string to_json(const CollectiveReport& report) {
  Json json;
  json["dadsim"] = {{"version", report.version}, {"simgrid", report.simgrid}, {"network_model", report.network_model}};
  json["platform"] = {{"file", report.platform_file}, {"description", report.platform_description}};
  json["operation"] = to_string(report.operation);
  json["ranks"] = report.hosts.size();
  json["hosts"] = report.hosts;
  json["root"] = report.root ? Json(*report.root) : Json(nullptr);
  Json& pairs = json["pairs"] = Json::array();
  for (const auto& [from, to] : report.pairs) pairs.push_back({{"from", from}, {"to", to}});
  json["connections"] = report.cold ? "cold" : "warm";
  json["rendezvous"] = report.rendezvous;
  json["bus_factor"] = number(bus_factor(report.operation, report.hosts.size()));
  Json& sizes = json["sizes"] = Json::array();
  for (const CollectiveRow& row : report.rows) sizes.push_back(to_json_object(report, row));
  json["average_busbw_gb_per_s"] = number(average_bus_bandwidth(report) / 1e9);
  if (!report.measured_file.empty()) {
    const Agreement agreement = agreement_of(report);
    json["measured"] = {{"file", report.measured_file},
                        {"sizes", agreement.rows},
                        {"predicted_over_measured", number(agreement.mean)},
                        {"least", number(agreement.least)},
                        {"greatest", number(agreement.greatest)},
                        {"mean_error", number(agreement.mean_error)}};
  }
  json["network"] = links_and_note(report.network);
  return indented(json);
}

std::string to_csv(const CollectiveReport& report) {
  std::string csv =
      "operation,ranks,connections,size_bytes,block_bytes,count_float32,algorithm,fidelity,messages,time_us,"
      "algbw_gb_per_s,busbw_gb_per_s,warm_us,cold_us,low_us,high_us,category";
  const bool measured = !report.measured_file.empty();
  csv += measured ? ",measured_us,measured_in_place_us,predicted_over_measured\n" : "\n";
  for (const CollectiveRow& row : report.rows) {
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}{}", to_string(report.operation), report.hosts.size(),
                       report.cold ? "cold" : "warm", cell(row.size_bytes), cell(row.block_bytes), cell(count_of(row)),
                       row.algorithm, to_string(row.fidelity), cell(row.messages), cell(seconds_of(report, row) * 1e6),
                       cell(algorithm_bandwidth(report, row) / 1e9), cell(bus_bandwidth(report, row) / 1e9),
                       cell(row.warm_seconds * 1e6), row.cold_seconds ? cell(*row.cold_seconds * 1e6) : "",
                       band_cells(report, row));
    if (measured) csv += measured_cells(report, row);
    csv += '\n';
  }
  return csv;
}

}  // namespace dadsim::report
