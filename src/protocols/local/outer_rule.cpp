#include "protocols/local/outer_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dadsim::protocols {

using world::Datum;
using world::History;
using world::Value;

Value OuterRule::begin(History& history, const Value& theta, std::size_t parameters) const {
  if (states == 0) return theta;
  const std::size_t count = states * parameters;
  return history.make(fmt::format("outer begin {}", count), {theta}, [count](History::Inputs in) {
    Datum result{in[0]->numbers, {}};
    result.numbers.insert(result.numbers.end(), count, 0.0F);
    return result;
  });
}

Value OuterRule::after(History& history, const Value& theta_and_state, const Value& moved,
                       const std::vector<std::size_t>& matrices, std::int64_t round, const Value& apart) const {
  const std::size_t parameters = std::accumulate(matrices.begin(), matrices.end(), std::size_t{0});
  std::vector<Value> inputs{theta_and_state, moved};
  if (apart) inputs.push_back(apart);
  return history.make(fmt::format("outer step {} {}", parameters, name(round)), std::move(inputs),
                      [step = step, matrices, parameters, round](History::Inputs in) {
                        Datum result = *in[0];
                        const std::vector<float>& delta = in[1]->numbers;
                        const std::span<float> all = result.numbers;
                        const auto of_group =
                            in.size() > 2 ? std::span<const float>(in[2]->numbers) : std::span<const float>();
                        step(round, {.theta = all.first(parameters),
                                     .state = all.subspan(delta.size()),
                                     .moved = std::span(delta).first(parameters),
                                     .apart = of_group.first(std::min(of_group.size(), parameters)),
                                     .matrices = matrices});
                        for (std::size_t k = parameters; k < delta.size(); ++k)
                          all[k] -= of_group.empty() ? delta[k] : delta[k] - of_group[k];
                        return result;
                      });
}

namespace outer {

const std::vector<RuleInfo>& rules() {
  static const std::vector<RuleInfo> all{mean_rule(),      sgd_rule(),
                                         nesterov_rule(),  folded_nesterov_rule(),
                                         adam_rule(),      delayed_nesterov_rule(),
                                         consensus_rule(), aligned_nesterov_rule()};
  return all;
}

std::vector<spec::ParameterSpec> parameters(const char* rule) {
  std::vector<std::string> names;
  std::string words = "outer optimizer";
  for (const RuleInfo& one : rules()) {
    names.emplace_back(one.name);
    words += fmt::format("{} {}: {}", names.size() > 1 ? ";" : ":", one.name, one.description);
  }
  return {spec::choice_parameter(kRule.name, rule, std::move(names), words),
          kRate,
          kMomentum,
          kSecondMoment,
          kConsensus,
          kBuffer,
          kWarmUp,
          kFinalMomentum,
          kAlign,
          kShrink,
          kTurn};
}

OuterRule make(const spec::ParameterValues& values, std::int64_t rounds) {
  return std::ranges::find(rules(), kRule.of(values), &RuleInfo::name)->make(values, rounds);
}

}  // namespace outer
}  // namespace dadsim::protocols
