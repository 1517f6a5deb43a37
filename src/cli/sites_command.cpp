#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/question_files.hpp"
#include "study/sites/sites.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kMostSites = 1000;

po::options_description sites_options() {
  po::options_description options("Options");
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  options.add_options()                                                                                               //
      ("up", text("RATE"), "a site's line towards the hub, e.g. 20Mbps; or one for each site, with commas")           //
      ("down", text("RATE"), "the other way; without it as --up")                                                     //
      ("round-trip", text("TIME"), "from a site to the hub and back; 20ms unless said")                               //
      ("device", text("NAME"), "of a site, of `dadsim devices`; rtx-3090 unless said")                                //
      ("model", text("NAME"), "time the steps as of a workload of `dadsim workloads`, e.g. resnet-50")                //
      ("data", text("DATA"), "what is learned: digits, which are built in, or a table FILE.csv; digits unless said")  //
      ("target", text("COLUMN"), "of a table: the column of the class; the last unless said");
  QuestionFiles::add_options(options, "sites.md");
  return options;
}

std::vector<std::string> lines_given(const po::variables_map& values, const char* option) {
  const std::string text = text_of(values, option);
  std::vector<std::string> all;
  if (text.empty()) return all;
  for (const std::string_view one : split_at(text, ',')) all.emplace_back(one);
  return all;
}

study::SitesRequest sites_request_of(const po::variables_map& values) {
  study::SitesRequest request;
  const std::string count = only_operand(values, "no number of sites is given", "one number of sites", "sites");
  const auto sites = parse_whole<std::int64_t>(count, 2, kMostSites);
  if (!sites) throw UsageError(fmt::format("'{}' is no number of sites; from 2 to {}", count, kMostSites));
  request.sites = *sites;
  request.up = lines_given(values, "up");
  if (request.up.empty()) throw UsageError("--up RATE is missing: a site's line towards the hub, e.g. --up 20Mbps");
  request.down = lines_given(values, "down");
  if (request.down.empty()) request.down = request.up;
  request.round_trip = lines_given(values, "round-trip");
  if (request.round_trip.empty()) request.round_trip = {"20ms"};
  const auto take = [&](const char* option, std::string& value) {
    if (const std::string said = text_of(values, option); !said.empty()) value = said;
  };
  take("device", request.device);
  take("model", request.model);
  take("data", request.data);
  take("target", request.target);
  if (values.contains("target") && request.data == "digits")
    throw UsageError("--target needs --data FILE.csv: digits have no columns");
  return request;
}

void run_sites(const po::variables_map& values) {
  const study::SitesRequest request = sites_request_of(values);
  const std::string read = request.data == "digits" ? std::string() : request.data;
  answer_question(values, read, "sites", [&](bool show_progress) {
    study::SitesAnswer answer = study::ask_sites(request, show_progress);
    return Answered{std::move(answer.document), std::move(answer.scenario)};
  });
}

}  // namespace

Command sites_command() {
  return {
      "sites",
      "N",
      "which algorithm is first between sites behind slow lines (docs/sites.md)",
      Command::Operand::none,
      "dadsim sites N --up RATE [options]\n"
      "learns with N sites that keep their data, each behind a line to a hub, and says which algorithm reaches 95 %\n"
      "first on these lines, in what time, with how many bytes, and what its messages reveal (docs/sites.md).\n\n",
      sites_options,
      run_sites};
}

}  // namespace dadsim::cli
