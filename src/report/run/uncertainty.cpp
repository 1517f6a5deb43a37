#include "report/run/uncertainty.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace dadsim::report {

std::string to_text(const Uncertainty& uncertainty) {
  nlohmann::json parts = nlohmann::json::array();
  for (const estimate::TimePart& part : uncertainty.parts)
    parts.push_back({part.category, part.seconds, part.cause, part.work, part.unseen});
  nlohmann::json arrivals = nlohmann::json::array();
  for (const auto& arrival : uncertainty.arrivals)
    arrivals.push_back(arrival ? nlohmann::json{arrival->after, arrival->at, arrival->steps} : nlohmann::json(nullptr));
  return nlohmann::json{
      {"parts", std::move(parts)}, {"arrivals", std::move(arrivals)}, {"seed_scatter", uncertainty.seed_scatter}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Uncertainty uncertainty_of(const std::string& text) {
  Uncertainty uncertainty;
  if (text.empty()) return uncertainty;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    uncertainty.seed_scatter = json.value("seed_scatter", uncertainty.seed_scatter);
    for (const nlohmann::json& part : json.at("parts")) {
      uncertainty.parts.push_back({part.at(0).get<std::string>(),
                                   part.at(1).get<double>(),
                                   part.at(2).get<std::string>(),
                                   {},
                                   part.at(3).get<double>(),
                                   part.at(4).get<std::vector<std::string>>()});
      estimate::error_category(uncertainty.parts.back().category);
    }
    for (const nlohmann::json& arrival : json.at("arrivals")) {
      uncertainty.arrivals.push_back(
          arrival.is_null() ? std::nullopt
                            : std::optional(estimate::Arrival{arrival.at(0).get<double>(), arrival.at(1).get<double>(),
                                                              arrival.at(2).get<double>()}));
    }
  } catch (const std::exception&) {
    throw std::runtime_error("the uncertainty of a run's time cannot be read");
  }
  return uncertainty;
}

}  // namespace dadsim::report
