#include "report/diagnose/diagnosis.hpp"
#include "report/text/json_values.hpp"
#include "report/words/report_head_json.hpp"
#include "report/words/statement_json.hpp"

namespace dadsim::report {

std::string to_json(const Diagnosis& diagnosis) {
  Json json = head_in_json(diagnosis);
  json["answer"] = {{"statements", in_json(answer_of(diagnosis))}};
  json["of"] = diagnosis.of;
  json["source"] = diagnosis.source;
  json["verdict"] = to_string(diagnosis.verdict);
  Json& times = json["times"] = Json::array();
  for (const DiagnosedTime& time : diagnosis.times) {
    times.push_back({{"bytes", diagnosis.collective ? number(time.bytes) : Json(nullptr)},
                     {"devices", time.devices},
                     {"measured", number(time.measured)},
                     {"expected", number(time.expected)},
                     {"low", number(time.low)},
                     {"high", number(time.high)}});
  }
  json["computing"] = diagnosis.computing ? number(*diagnosis.computing) : Json(nullptr);
  Json& suspicions = json["suspicions"] = Json::array();
  for (const Suspicion& one : diagnosis.suspicions) {
    Json seconds = Json::array();
    for (const double time : one.seconds) seconds.push_back(number(time));
    suspicions.push_back({{"cause", in_json(one.cause)},
                          {"check", in_json(check_of(one))},
                          {"seconds", std::move(seconds)},
                          {"computing", one.computing ? number(*one.computing) : Json(nullptr)},
                          {"distance", number(one.distance)},
                          {"explains", one.explains}});
  }
  json["free"] = in_json(diagnosis.free);
  json["evidence"] = in_json(diagnosis.evidence);
  json["assumptions"] = in_json(diagnosis.assumptions);
  return indented(json);
}

}  // namespace dadsim::report
