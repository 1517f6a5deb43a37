#include "report/words/report_head.hpp"

#include <fmt/format.h>

#include "report/text/paragraph.hpp"
#include "report/words/report_head_json.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

Json head_in_json(const ReportHead& head) {
  Json json;
  for (const auto& [name, text] : {std::pair{"version", head.version}, std::pair{"build", head.build},
                                   std::pair{"simgrid", head.simgrid}, std::pair{"network_model", head.network_model}})
    if (!text.empty()) json["dadsim"][name] = text;
  if (!head.scenario_name.empty()) json["scenario"]["name"] = head.scenario_name;
  if (head.description) json["scenario"]["description"] = *head.description;
  return json;
}

std::string background_of(const ReportHead& head, bool verbose) {
  if (!verbose) return assumptions_counted(head.assumptions.size());
  std::string text;
  for (const std::string& assumption : in_words(head.assumptions)) text += paragraph("Assumed: " + assumption);
  return text + paragraph("Network model: " + head.network_model);
}

std::string assumptions_counted(std::size_t count) {
  if (count == 0) return {};
  return paragraph(
      fmt::format("Based on {} assumption{} and a model of the network (--verbose; also in --json and --report).",
                  count, count == 1 ? "" : "s"));
}

}  // namespace dadsim::report
