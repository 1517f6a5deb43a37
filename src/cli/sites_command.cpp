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
  options.add_options()                                                                                         //
      ("up", text("RATE"), "bandwidth from a site to the hub, e.g. 20Mbps; or one for each site, with commas")  //
      ("down", text("RATE"), "bandwidth from the hub to a site; default --up")                                  //
      ("round-trip", text("TIME"), "round trip between a site and the hub; default 20ms")                       //
      ("device", text("NAME"), "device of a site, from `dadsim devices`; default rtx-3090")                     //
      ("model", text("NAME"), "time the steps as a workload of `dadsim workloads`, e.g. resnet-50")             //
      ("data", text("DATA"), "training data: digits (built in, default), or a table FILE.csv")                  //
      ("target", text("COLUMN"), "column of the class in a table; default the last");
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
  const std::string count = only_operand(values, "no number of sites is given", "give one number of sites", "sites");
  const auto sites = parse_whole<std::int64_t>(count, 2, kMostSites);
  if (!sites) throw UsageError(fmt::format("'{}' is no number of sites; use 2 to {}", count, kMostSites));
  request.sites = *sites;
  request.up = lines_given(values, "up");
  if (request.up.empty())
    throw UsageError("--up RATE is missing: the bandwidth from a site to the hub, e.g. --up 20Mbps");
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
  return {"sites",
          "N",
          "the fastest algorithm between sites with slow lines (docs/sites.md)",
          Command::Operand::none,
          "dadsim sites N --up RATE [options]\nlearns with N sites that keep their data, each with a line to a hub, "
          "and reports which algorithm reaches 95 %\nfirst on these lines, in what time, with how many bytes, and what "
          "its messages reveal (docs/sites.md).\n\n",
          sites_options,
          run_sites};
}

}  // namespace dadsim::cli
