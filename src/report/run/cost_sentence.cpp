#include "report/run/cost_sentence.hpp"

#include <fmt/format.h>

namespace dadsim::report {

std::string costs_in_words(const Costs& costs, const std::string& currency) {
  return costs_in_words(costs.money, costs.joules, costs.carbon, currency);
}

std::string cost_sentence(const RunResult& run, const Result& result) {
  if (!run.costs || result.currency.empty()) return {};
  std::string text = fmt::format("{} costs ", run.spec.label);
  if (run.costs->at_scale) text += fmt::format("{} at scale; ", costs_in_words(*run.costs->at_scale, result.currency));
  if (run.costs->to_target)
    text += fmt::format("{} to the target; ", costs_in_words(*run.costs->to_target, result.currency));
  if (result.timing_only && !run.spec.event_driven)
    return text + fmt::format("{} a step.", costs_in_words(run.costs->per_step, result.currency));
  return text + fmt::format("{} for all learned steps.", costs_in_words(run.costs->whole, result.currency));
}

}  // namespace dadsim::report
