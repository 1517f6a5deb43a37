#include "report/run/event_driven_json.hpp"

#include <algorithm>

#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

using Part = step::Participation::Part;

/// A list per figure, with an entry per worker.
Json workers_to_json(const EventDrivenResult& event_driven) {
  Json json;
  for (const char* name :
       {"host", "used", "late", "failed", "busy_seconds", "down_seconds", "bytes_sent", "bytes_received"}) {
    json[name] = Json::array();
  }
  const std::vector<EventDrivenResult::Worker> workers = event_driven.per_worker();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const EventDrivenResult::Worker& worker = workers[i];
    json["host"].push_back(i < event_driven.hosts.size() ? event_driven.hosts[i] : "");
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

Json to_json_object(const EventDrivenResult& event_driven) {
  Json json;
  const step::Participation& participation = event_driven.participation;
  json["stopped"] = in_json(event_driven.stopped);
  json["samples"] = number(participation.samples);
  json["contributions"] = {{"asked", participation.asked},
                           {"used", participation.answered},
                           {"late", participation.late},
                           {"failed", participation.failed},
                           {"retried", participation.retried},
                           {"restored", event_driven.restored()},
                           {"lost_work_seconds", number(event_driven.lost_work())}};
  Json& counts = json["staleness"] = Json::array();
  for (const auto& [updates, times] : participation.staleness)
    counts.push_back({{"updates", updates}, {"times", times}});
  json["busy_seconds"] = number(event_driven.busy_seconds());
  json["idle_seconds"] = number(event_driven.idle_seconds());
  json["bytes"] = {{"received", number(event_driven.bytes_received())}, {"lost", number(event_driven.bytes_lost())}};
  json["outages"] = {{"hosts", event_driven.outages()}, {"links", event_driven.log.link_outages}};
  json["learning"] = {{"learned", event_driven.learned}, {"found", event_driven.found}};
  json["events"] = event_driven.log.events;
  Json& facts = json["facts"] = Json::object();
  for (const auto& [name, value] : participation.facts) facts[name] = number(value);
  json["per_worker"] = workers_to_json(event_driven);
  Json& parts = json["parts"] = Json::array();
  const std::size_t written = std::min(participation.parts.size(), kMostPartsWritten);
  for (std::size_t i = 0; i < written; ++i) {
    const Part& part = participation.parts[i];
    parts.push_back({{"round", part.round},
                     {"worker", part.client},
                     {"begin_seconds", number(part.asked)},
                     {"end_seconds", number(part.ended)},
                     {"end", to_string(part.end)}});
  }
  json["parts_left_out"] = std::max<std::int64_t>(
      0, participation.answered + participation.late + participation.failed - static_cast<std::int64_t>(written));
  Json& outages = json["host_outages"] = Json::array();
  for (const step::EventLog::Outage& outage : event_driven.log.outages) {
    outages.push_back(
        {{"node", outage.node}, {"begin_seconds", number(outage.begin)}, {"end_seconds", number(outage.end)}});
  }
  return json;
}

}  // namespace dadsim::report
