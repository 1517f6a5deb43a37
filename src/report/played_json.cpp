#include "report/played_json.hpp"

#include <algorithm>

namespace dadsim::report {
namespace {

const char* to_string(PlayedResult::Part::End end) {
  switch (end) {
    case PlayedResult::Part::End::used:
      return "used";
    case PlayedResult::Part::End::late:
      return "late";
    case PlayedResult::Part::End::failed:
      return "failed";
  }
  return "";
}

/// A list per figure, with an entry per worker.
Json workers_to_json(const PlayedResult& played) {
  Json json;
  for (const char* name :
       {"host", "used", "late", "failed", "busy_seconds", "down_seconds", "bytes_sent", "bytes_received"}) {
    json[name] = Json::array();
  }
  for (std::size_t i = 0; i < played.workers.size(); ++i) {
    const PlayedResult::Worker& worker = played.workers[i];
    json["host"].push_back(i < played.hosts.size() ? played.hosts[i] : "");
    json["used"].push_back(worker.used);
    json["late"].push_back(worker.late);
    json["failed"].push_back(worker.failed);
    json["busy_seconds"].push_back(number(worker.busy));
    json["down_seconds"].push_back(number(worker.down));
    json["bytes_sent"].push_back(number(worker.sent));
    json["bytes_received"].push_back(number(worker.received));
  }
  return json;
}

}  // namespace

Json to_json_object(const PlayedResult& played) {
  Json json;
  json["samples"] = number(played.samples);
  json["contributions"] = {{"asked", played.asked},
                           {"used", played.answered},
                           {"late", played.late},
                           {"failed", played.failed},
                           {"retried", played.retried},
                           {"restored", played.restored},
                           {"lost_work_seconds", number(played.lost_work)}};
  Json& counts = json["staleness"] = Json::array();
  for (const auto& [updates, times] : played.staleness) counts.push_back({{"updates", updates}, {"times", times}});
  json["busy_seconds"] = number(played.busy_seconds);
  json["idle_seconds"] = number(played.idle_seconds);
  json["bytes"] = {{"received", number(played.bytes_received)}, {"lost", number(played.bytes_lost)}};
  json["outages"] = {{"hosts", played.outages}, {"links", played.link_outages}};
  json["learning"] = {{"learned", played.learned}, {"found", played.found}};
  json["events"] = played.events;
  Json& facts = json["facts"] = Json::object();
  for (const auto& [name, value] : played.facts) facts[name] = number(value);
  json["per_worker"] = workers_to_json(played);
  Json& parts = json["parts"] = Json::array();
  const std::size_t written = std::min(played.parts.size(), kMostPartsWritten);
  for (std::size_t i = 0; i < written; ++i) {
    const PlayedResult::Part& part = played.parts[i];
    parts.push_back({{"round", part.round},
                     {"worker", part.worker},
                     {"begin_seconds", number(part.begin)},
                     {"end_seconds", number(part.end)},
                     {"end", to_string(part.how)}});
  }
  json["parts_left_out"] =
      std::max<std::int64_t>(0, played.answered + played.late + played.failed - static_cast<std::int64_t>(written));
  Json& outages = json["host_outages"] = Json::array();
  for (const PlayedResult::Outage& outage : played.host_outages) {
    outages.push_back(
        {{"node", outage.node}, {"begin_seconds", number(outage.begin)}, {"end_seconds", number(outage.end)}});
  }
  return json;
}

}  // namespace dadsim::report
