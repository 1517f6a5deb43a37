#include "report/run/cost_sentence.hpp"

#include <fmt/format.h>

#include "support/human.hpp"

namespace dadsim::report {

std::string money_in_words(double money, const std::string& currency) {
  return money < 1 ? fmt::format("{:.3g} {}", money, currency) : fmt::format("{:.2f} {}", money, currency);
}

std::string carbon_in_words(double grams) {
  return grams < 1000 ? fmt::format("{:.3g} g CO2e", grams) : fmt::format("{:.4g} kg CO2e", grams / 1000);
}

std::string costs_in_words(const Costs& costs, const std::string& currency) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (costs.money) add(money_in_words(*costs.money, currency));
  if (costs.joules) add(human_energy(*costs.joules));
  if (costs.carbon) add(carbon_in_words(*costs.carbon));
  return text.empty() ? "not known" : text;
}

std::string cost_sentence(const RunResult& run, const Result& result) {
  if (!run.costs || result.currency.empty()) return {};
  std::string text = fmt::format("{} costs ", run.spec.label);
  if (run.costs->at_scale) text += fmt::format("{} at scale; ", costs_in_words(*run.costs->at_scale, result.currency));
  if (run.costs->to_target)
    text += fmt::format("{} to the target; ", costs_in_words(*run.costs->to_target, result.currency));
  if (result.timing_only && !run.event_driven)
    return text + fmt::format("{} a step.", costs_in_words(run.costs->per_step, result.currency));
  return text + fmt::format("{} for all learned steps.", costs_in_words(run.costs->whole, result.currency));
}

}  // namespace dadsim::report
