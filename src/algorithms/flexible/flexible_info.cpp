#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/flexible/flexible.hpp"
#include "algorithms/flexible/flexible_by_cost.hpp"
#include "methods/idle_parameters.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {
namespace {

using Of = FlexibleParameters;

bool chooses(const spec::ParameterValues& values) { return Of::kPolicy.of(values) != Policy::rules; }

bool flexible_is_exact(const spec::RunSpec& run) {
  if (chooses(run.parameters)) return !Of::kLossy.of(run.parameters);
  return is_exact(Of::kDefault.of(run.parameters)) &&
         std::ranges::all_of(run.share, [](const auto& rule) { return is_exact(statistic_of(rule.statistic)); });
}

/// Of every layer, in every step.
bool flexible_sums_gradients(const spec::RunSpec& run) {
  const auto sums = [](const auto& rule) {
    return statistic_of(rule.statistic) == Statistic::gradient && rule.every == 1;
  };
  return !chooses(run.parameters) && Of::kDefault.of(run.parameters) == Statistic::gradient &&
         run.average_deltas_above.empty() && std::ranges::all_of(run.share, sums);
}

/// What goes without a site, layer by layer, is what is shared in the step that the site misses.
RunFaults faults_of_absence(const spec::RunSpec& run) {
  RunFaults faults;
  if (!run.absence.goes_without()) return faults;
  const std::string absent = fmt::format("absent=\"{}\"", to_string(run.absence.does));
  const char* others = "or absent=\"wait\" or \"restart\"";
  if (chooses(run.parameters)) {
    const std::string& policy = run.parameters.at(Of::kPolicy.name);
    faults.emplace_back(
        not_built(fmt::format("{} beside policy=\"{}\": what is least is found for steps of all sites", absent, policy),
                  fmt::format("policy=\"rules\", {}", others)));
  }
  for (std::size_t i = 0; i < run.share.size(); ++i) {
    const auto rule = static_cast<std::ptrdiff_t>(i);
    if (run.share[i].every > 1) {
      faults.emplace_back(
          not_built(fmt::format("rows of several steps go together, and with {} sites miss some of them", absent),
                    fmt::format("every=\"1\", {}", others)),
          rule);
    }
    if (statistic_of(run.share[i].statistic) == Statistic::none) {
      faults.emplace_back(
          not_built(fmt::format("with {} sites with layers of their own would train them as they come", absent),
                    fmt::format("a statistic that is shared, {}", others)),
          rule);
    }
  }
  return faults;
}

/// Where a policy decides, no layer is shared by default; where rules do, nothing is chosen; and where no layer may be
/// shared as rank-dAD shares them, nothing is factorised.
RunFaults faults_of_idle(const spec::RunSpec& run) {
  std::vector<methods::ActsBeside> conditions{{Of::kLossy, Of::kPolicy, {"bytes", "time"}},
                                              {Of::kDefault, Of::kPolicy, {"rules"}}};
  const bool is_asked = std::ranges::any_of(
      run.share, [](const auto& rule) { return statistic_of(rule.statistic) == Statistic::rank_dad; });
  for (const spec::ParameterSpec& parameter :
       std::initializer_list<spec::ParameterSpec>{Of::kCap, Of::kIterations, Of::kTolerance}) {
    if (chooses(run.parameters))
      conditions.push_back({parameter, Of::kLossy, {"true"}});
    else if (!is_asked)
      conditions.push_back({parameter, Of::kDefault, {RankDad::kName}});
  }
  return methods::faults_of_idle_parameters(run.parameters, conditions);
}

constexpr std::array kAllStatistics{Statistic::gradient, Statistic::dad, Statistic::edad, Statistic::rank_dad,
                                    Statistic::none};

std::unique_ptr<Algorithm> make_flexible(const spec::RunSpec& run) {
  if (!chooses(run.parameters)) return std::make_unique<Flexible>(run);
  return std::make_unique<FlexibleByCost>(run, factors_of(run.parameters));
}

}  // namespace

SynchronousMethod flexible_method() {
  SynchronousMethod info;
  info.name = "flexible";
  info.description =
      "Each layer is shared in a way of its own: gradient, dAD, edAD or rank-dAD, by rules, or by what is least.";
  info.source =
      "in the spirit of Baker et al., arXiv 2102.09631, \"flexible training schemas\"; which rules there are is the "
      "reading chosen here";
  info.payload = "pq, N(p + q), Np or r(p + q), layer by layer";
  info.family = "layer-wise";
  info.sums_gradients = flexible_sums_gradients;
  info.sums_in_buckets = true;
  info.formula =
      "G_l = Σ_s Δ_sᵀ A_s, or Δ̂ᵀ Â of the rows of all sites, or Lᵀ R of their factors, as the rule of l says\n"
      "Δ̂_{l−1} = (Δ̂_l W_l) ⊙ φ'(Â) where layer l − 1 is edad\n"
      "every k: G_l = Σ of k steps, and W_l stays in between\n"
      "policy: per layer the statistic with the fewest bytes, or the least time on the cluster";
  info.compute = "what the statistic of each layer takes; gradients of several steps are added up";
  for (const Statistic one : kAllStatistics) {
    info.statistics.push_back({to_string(one), is_exact(one), one == Statistic::none});
  }
  info.parameters = {Of::kPolicy, Of::kDefault, Of::kLossy, Of::kCap, Of::kIterations, Of::kTolerance};
  info.make = make_flexible;
  info.exact = flexible_is_exact;
  info.check = [](const RunFacts& facts) {
    const std::optional<models::Network> network = network_of(facts);
    RunFaults faults = network ? faults_of_share(facts.run, *network) : RunFaults();
    if (faults.empty()) faults = faults_of_absence(facts.run);
    for (RunFault& fault : faults_of_idle(facts.run)) faults.push_back(std::move(fault));
    return faults;
  };
  // A gradient and its factors are not the same once both have been rounded.
  info.compresses = [](const spec::ParameterValues& values) { return !chooses(values); };
  info.records_alternatives = chooses;
  info.lossless = {{"cap", "65536"}, {"tolerance", "0"}};
  // At most, beside what comes together over steps: A and Δ of all sites. Where bytes decide, these are only taken
  // where they are less than twice the gradient: what they send, (S + 1) times or S − 1 times as many numbers, is less
  // than what gradients send, 2 S or 2 (S − 1) times theirs.
  info.state = [](const spec::ParameterValues& values) {
    const step::Expression rows = step::extent::all_rows() * (step::extent::in() + step::extent::out());
    if (!chooses(values) && Of::kDefault.of(values) == Statistic::gradient) return estimate::AlgorithmState{};
    if (Of::kPolicy.of(values) == Policy::bytes) {
      return estimate::AlgorithmState{step::extent::min({rows, 2.0 * step::extent::parameters()})};
    }
    return estimate::AlgorithmState{rows};
  };
  // Of layers that are shared as rank-dAD shares them.
  info.retained_rank = [](const spec::ParameterValues& values) {
    using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
    const step::Expression all = min({in_with_bias(), delta_directions(), all_rows()});
    return RetainedRank{min({static_cast<double>(Of::kCap.of(values)), all}), all};
  };
  info.checks =
      "the pooled gradient to 1e-5, with gradients, dAD and edAD mixed over two to five layers, five activations and 1 "
      "to 16 sites, and so do both policies\n"
      "every 3 against plain SGD on batches three times as large with three times the rate: the loss to 1e-4, the "
      "bytes "
      "the same, with every statistic\n"
      "the plan of the fewest bytes is the least of all mixtures of three layers, by force; that of the least time is "
      "within 1 % of it\n"
      "layers of a site's own: with nothing shared the loss of no-sharing to 1e-5; shared layers the same to the bit";
  return info;
}

}  // namespace dadsim::algorithms
