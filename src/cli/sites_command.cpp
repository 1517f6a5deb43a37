
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/question_files.hpp"
#include "study/sites/sites.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kMostSites = 1000;

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
  request.sites = read_operand<std::int64_t>("N", count, scenario::integer(2, kMostSites));
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

}  // namespace

void run_sites(const po::variables_map& values) {
  const study::SitesRequest request = sites_request_of(values);
  const std::string read = request.data == "digits" ? std::string() : request.data;
  answer_question(values, read, "sites", [&](bool show_progress) {
    study::SitesAnswer answer = study::ask_sites(request, show_progress);
    return Answered{std::move(answer.document), std::move(answer.scenario)};
  });
}

}  // namespace dadsim::cli
