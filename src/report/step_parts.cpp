#include "report/step_parts.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace dadsim::report {

std::string parts_in_text(const std::vector<estimate::TimePart>& parts) {
  nlohmann::json json = nlohmann::json::array();
  for (const estimate::TimePart& part : parts) json.push_back({part.kin, part.seconds, part.cause});
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<estimate::TimePart> parts_of_text(const std::string& text) {
  std::vector<estimate::TimePart> parts;
  if (text.empty()) return parts;
  try {
    for (const nlohmann::json& part : nlohmann::json::parse(text)) {
      parts.push_back({part.at(0).get<std::string>(), part.at(1).get<double>(), part.at(2).get<std::string>(), {}});
      estimate::kin(parts.back().kin);
    }
  } catch (const std::exception&) {
    throw std::runtime_error("a step whose parts cannot be read");
  }
  return parts;
}

}  // namespace dadsim::report
