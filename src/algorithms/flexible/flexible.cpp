#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/flexible/layer_rows.hpp"
#include "algorithms/flexible/plan.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/step/layer_alternatives.hpp"
#include "methods/idle_parameters.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// dAD's own flexibility: each layer is shared in the way its rule says, all in one backward pass. Baker et al. (arXiv
/// 2102.09631) promise "novel flexible training schemas" of averaging during back-propagation without defining them;
/// this class implements one reading.
///   gradient   Σ_s Δ_sᵀ A_s, as gradient-sharing
///   dad        A and Δ of all sites, as dAD
///   edad       A of all sites; Δ̂ recomputed from the layer above, whose rows must be shared too; of the last layer A
///              and Δ
///   rank-dad   factors of Δᵀ A, found and merged as rank-dAD does it, two ways
///   none       nothing: each site has weights of its own there, and applies the gradient of its own mean loss
/// The exact statistics leave the same gradient, so that any mixture of them is exact.
///
/// `every` = k: A and Δ of the layer (its gradients, for `gradient`) accumulate over k steps, while its weights are
/// unchanged. In the k-th step they are shared, and the layer is updated with the sum of the k gradients. If all layers
/// do so, plain SGD takes the step of batches k times as large with k times the learning rate. Parameters outside the
/// matrices, including embedding tables, are summed in every step, even if sites have layers of their own.
///
/// Average of Δ above layer L, with L and all layers below it the sites' own (truncated edAD: a shared decoder on
/// private encoders): every site replaces Δ_L by the mean over sites, row by row, Δ̄_L = 1/S Σ_s Δ_L^{(s)}, and the
/// passes below continue with it. This requires batches of one size, and rows that are comparable by their position,
/// which the method itself does not ensure.
class Flexible final : public Algorithm {
 public:
  explicit Flexible(spec::RunSpec run);
  void run(TrainingStep& step) override;

 private:
  /// The accumulated rows, or gradients, of a layer that is not shared in every step.
  struct Backlog {
    RowsOfSteps rows;
    GradientsOfSteps gradients;
  };
  /// The pending exchanges of a layer in this step.
  struct LayerSharing {
    bool due = true;
    Pending<models::LayerGradient> sum;
    Pending<Rows> rows;
  };

  void share(TrainingStep& step, std::size_t l);
  void share_gradient(TrainingStep& step, std::size_t l);
  /// Takes the received data and forms the layer's gradient.
  void receive(TrainingStep& step, std::size_t l);

  spec::RunSpec run_;
  SharedFactorsOptions factors_;
  std::vector<LayerPlan> plan_;
  std::optional<std::size_t> averaged_;  ///< layer whose Δ are averaged
  std::vector<Backlog> backlog_;
  std::vector<LayerSharing> sharing_;
  models::Matrix delta_;  ///< Δ̂ of the current layer; before the product with φ', the gradient of
                          ///< its outputs
  const models::Matrix* outputs_ = nullptr;  ///< outputs of the current layer, at all sites
};

/// Returns the options of rank-dAD.
SharedFactorsOptions factors_of(const spec::ParameterValues& values) {
  return {{.cap = FlexibleParameters::kCap.of(values),
           .iterations = FlexibleParameters::kIterations.of(values),
           .tolerance = FlexibleParameters::kTolerance.of(values)},
          Padding::agree};
}

Flexible::Flexible(spec::RunSpec run) : run_(std::move(run)), factors_(factors_of(run_.parameters)) {}

void Flexible::run(TrainingStep& step) {
  if (plan_.empty()) {
    plan_ = plan_of(run_, step.network());
    backlog_.resize(plan_.size());
    averaged_ = averaged_layer(run_, step.network());
  }
  sharing_.clear();
  sharing_.resize(step.layers());
  for (std::size_t l = 0; l < step.layers(); ++l) {
    sharing_[l].due = (step.number() + 1) % plan_[l].every == 0;
    if (!sharing_[l].due) step.freeze(l);
  }
  step.forward();
  step.backward([&](std::size_t l) {
    share(step, l);
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) {
    if (sharing_[l].due) receive(step, l);
  });
}

void Flexible::share_gradient(TrainingStep& step, std::size_t l) {
  const TrainingStep::GradientOfSite own = step.site_gradients(l);
  if (plan_[l].every == 1) {
    sharing_[l].sum = step.exchange().sum(own);
    return;
  }
  GradientsOfSteps& before = backlog_[l].gradients;
  before.add(step, l, own);
  if (!sharing_[l].due) return;
  sharing_[l].sum = step.exchange().sum(before.sum());
  before.clear();
}

void Flexible::share(TrainingStep& step, std::size_t l) {
  const LayerPlan& plan = plan_[l];
  if (averaged_ == l) average_deltas(step, l);
  if (plan.statistic == Statistic::none) return step.keep_gradients(l);
  if (plan.statistic == Statistic::gradient) return share_gradient(step, l);
  RowsOfSteps& rows = backlog_[l].rows;
  if (plan.every > 1) rows.add(step, l);
  if (!sharing_[l].due) return;
  const SiteRows own = plan.every > 1 ? rows.take(step) : rows_of_step(step, l);
  if (plan.statistic == Statistic::rank_dad) {
    const SiteFactors factors = factorise_sites(step, l, factors_, own);
    sharing_[l].rows = step.exchange().combine(factors.contribution(), refactorise(step, l, factors_, own.rows));
  } else {
    sharing_[l].rows = share_rows(step, own, plan.statistic == Statistic::dad || l + 1 == step.layers());
  }
  rows.clear();
}

void Flexible::receive(TrainingStep& step, std::size_t l) {
  const Statistic statistic = plan_[l].statistic;
  if (statistic == Statistic::none) return;
  if (statistic == Statistic::gradient) {
    step.gradient(l) = std::move(sharing_[l].sum.wait());
    return;
  }
  Rows& all = sharing_[l].rows.wait();
  if (statistic == Statistic::rank_dad) {
    step.gradient(l) = multiply(step, l, all);
    return;
  }
  const models::Matrix& inputs = all[0];
  if (all.parts.size() > 1) {
    delta_ = std::move(all.parts[1]);
  } else {
    recompute_delta(step, l, inputs, *outputs_, all.rows, delta_);
  }
  step.gradient(l) = gradient_of_rows(step, l, delta_, inputs, all.rows);
  if (l > 0 && plan_[l - 1].statistic == Statistic::edad) delta_ = pass_down(step, l, delta_, all.rows);
  outputs_ = &inputs;
}

namespace {

/// Offers every way of sharing a layer; each layer of the timed network takes the one with the fewest bytes, or the
/// least time on its cluster. A timed network with other shapes may choose differently than the learned one, so all
/// ways are carried out and recorded, each operation with its alternatives. The exact ways leave the same gradient:
/// learning does not depend on the choice. If rank-dAD is allowed, learning always uses its gradient: an exact
/// choice cannot lose more.
///
/// Counts as sent the bytes of the choice by bytes on the network that learns.
class FlexibleByCost final : public Algorithm {
 public:
  FlexibleByCost(spec::RunSpec run, SharedFactorsOptions factors);
  void run(TrainingStep& step) override;

 private:
  struct LayerShares {
    Pending<models::LayerGradient> sum;
    Pending<Rows> dad, edad, rank;
  };

  step::Alternatives alternatives(const TrainingStep& step) const;
  void share(TrainingStep& step, LayerAlternatives& ways, std::size_t l, LayerShares& layer);
  void receive(TrainingStep& step, LayerAlternatives& ways, std::size_t l, LayerShares& layer);

  spec::RunSpec run_;
  step::Alternatives::ChosenBy by_;
  bool lossy_;
  SharedFactorsOptions factors_;
  std::vector<bool> may_lose_;  ///< per layer: rank-dAD is allowed
  models::Matrix delta_;        ///< Δ̂ of the current layer; before the product with φ', the gradient of
                                ///< its outputs
  const models::Matrix* outputs_ = nullptr;  ///< outputs of the current layer, at all sites
};

/// Alternatives, in the order of preference among equals.
enum Way : unsigned { kGradient, kDad, kDadPassing, kEdad, kEdadPassing, kRank };

constexpr step::AlternativeSet set(Way way) { return 1U << way; }
constexpr step::AlternativeSet kAnyDad = set(kDad) | set(kDadPassing);
constexpr step::AlternativeSet kAnyEdad = set(kEdad) | set(kEdadPassing);
constexpr step::AlternativeSet kPassing = set(kDadPassing) | set(kEdadPassing);

FlexibleByCost::FlexibleByCost(spec::RunSpec run, SharedFactorsOptions factors)
    : run_(std::move(run)),
      by_(FlexibleParameters::kPolicy.of(run_.parameters) == Policy::time ? step::Alternatives::ChosenBy::time
                                                                          : step::Alternatives::ChosenBy::bytes),
      lossy_(FlexibleParameters::kLossy.of(run_.parameters)),
      factors_(factors) {}

step::Alternatives FlexibleByCost::alternatives(const TrainingStep& step) const {
  step::Alternatives ways;
  ways.by = by_;
  ways.all = {{to_string(Statistic::gradient), false, false},
              {to_string(Statistic::dad), false, false},
              {to_string(Statistic::dad), false, true},
              {to_string(Statistic::edad), true, false},
              {to_string(Statistic::edad), true, true}};
  if (lossy_) ways.all.push_back({to_string(Statistic::rank_dad), false, false});
  for (std::size_t l = 0; l < step.layers(); ++l) {
    const bool below = l > 0 && step.chained(l - 1);
    step::AlternativeSet offered = set(kGradient) | set(kDad);
    if (below) offered |= set(kDadPassing);
    if (step.chained(l)) offered |= below ? kAnyEdad : set(kEdad);
    if (may_lose_[l]) offered |= set(kRank);
    ways.offered.push_back(offered);
  }
  return ways;
}

void FlexibleByCost::run(TrainingStep& step) {
  if (may_lose_.empty()) {
    for (const LayerPlan& plan : plan_of(run_, step.network())) may_lose_.push_back(lossy_ && plan.rule < 0);
  }
  LayerAlternatives ways(step);
  std::vector<LayerShares> layers(step.layers());
  step.forward();
  step.backward([&](std::size_t l) {
    share(step, ways, l, layers[l]);
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) { receive(step, ways, l, layers[l]); });
  ways.offer(alternatives(step));
}

void FlexibleByCost::share(TrainingStep& step, LayerAlternatives& ways, std::size_t l, LayerShares& layer) {
  ways.carry_out(l, set(kGradient), [&] { layer.sum = step.exchange().sum(step.site_gradients(l)); });
  ways.carry_out(l, kAnyDad, [&] { layer.dad = share_rows(step, rows_of_step(step, l), true); });
  if (step.chained(l)) {
    ways.carry_out(l, kAnyEdad, [&] { layer.edad = share_rows(step, rows_of_step(step, l), false); });
  }
  if (!may_lose_[l]) return;
  ways.carry_out(l, set(kRank), [&] {
    const SiteFactors own = factorise_sites(step, l, factors_);
    layer.rank = step.exchange().combine(own.contribution(), refactorise(step, l, factors_));
  });
}

void FlexibleByCost::receive(TrainingStep& step, LayerAlternatives& ways, std::size_t l, LayerShares& layer) {
  models::Matrix own_delta;  // Δ of the sites, shared as in dAD
  ways.carry_out(l, set(kGradient), [&] { step.gradient(l) = std::move(layer.sum.wait()); });
  ways.carry_out(l, kAnyDad, [&] {
    Rows& all = layer.dad.wait();
    gradient_of_rows(step, l, all[1], all[0], all.rows);
    own_delta = std::move(all.parts[1]);
  });
  const models::Matrix* inputs = &layer.dad.data()[0];
  if (step.chained(l)) {
    ways.carry_out(l, kAnyEdad, [&] {
      Rows& all = layer.edad.wait();
      recompute_delta(step, l, all[0], *outputs_, all.rows, delta_);
      gradient_of_rows(step, l, delta_, all[0], all.rows);
      inputs = &all[0];
    });
  } else {
    delta_ = std::move(own_delta);
  }
  if (l > 0 && step.chained(l - 1)) {
    ways.carry_out(l, kPassing, [&] {
      const step::Expression rows = step::extent::over_workers(step::extent::rows());
      delta_ = pass_down(step, l, delta_, rows);
    });
  }
  outputs_ = inputs;
  if (!may_lose_[l]) return;
  ways.carry_out(l, set(kRank), [&] { step.gradient(l) = multiply(step, l, layer.rank.wait()); });
}

using Of = FlexibleParameters;

bool chooses(const spec::ParameterValues& values) { return Of::kPolicy.of(values) != Policy::rules; }

bool flexible_is_exact(const spec::RunSpec& run) {
  if (chooses(run.parameters)) return !Of::kLossy.of(run.parameters);
  return is_exact(Of::kDefault.of(run.parameters)) &&
         std::ranges::all_of(run.share, [](const auto& rule) { return is_exact(statistic_of(rule.statistic)); });
}

/// Returns whether every layer's gradient is summed in every step.
bool flexible_sums_gradients(const spec::RunSpec& run) {
  const auto sums = [](const auto& rule) {
    return statistic_of(rule.statistic) == Statistic::gradient && rule.every == 1;
  };
  return !chooses(run.parameters) && Of::kDefault.of(run.parameters) == Statistic::gradient &&
         run.average_deltas_above.empty() && std::ranges::all_of(run.share, sums);
}

/// Reports rules that conflict with steps from which sites are absent.
RunFaults faults_of_absence(const spec::RunSpec& run) {
  RunFaults faults;
  if (!run.absence.goes_without()) return faults;
  const std::string absent = fmt::format("absent=\"{}\"", to_string(run.absence.does));
  const char* others = "set absent=\"wait\" or \"restart\"";
  if (chooses(run.parameters)) {
    const std::string& policy = run.parameters.at(Of::kPolicy.name);
    faults.emplace_back(
        not_built(fmt::format("{} conflicts with policy=\"{}\", which plans for steps of all sites", absent, policy),
                  fmt::format("set policy=\"rules\", or {}", others)));
  }
  for (std::size_t i = 0; i < run.share.size(); ++i) {
    const auto rule = static_cast<std::ptrdiff_t>(i);
    if (run.share[i].every > 1) {
      faults.emplace_back(
          not_built(fmt::format("'every' above 1 needs all sites in every step, but sites miss steps with {}", absent),
                    fmt::format("set every=\"1\", or {}", others)),
          rule);
    }
    if (statistic_of(run.share[i].statistic) == Statistic::none) {
      faults.emplace_back(not_built(fmt::format("with {}, absent sites would not train their own layers", absent),
                                    fmt::format("use a shared statistic, or {}", others)),
                          rule);
    }
  }
  return faults;
}

/// Reports parameters without effect: the default if a policy decides, the policy's parameters with rules, and
/// rank-dAD's parameters if no layer may use rank-dAD.
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
  info.family = "layer-wise";
  info.sums_gradients = flexible_sums_gradients;
  info.sums_in_buckets = true;
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
  // Excludes <compress> with a choice of ways: a gradient and its factors differ once both have been rounded.
  info.compresses = [](const spec::ParameterValues& values) { return !chooses(values); };
  info.records_alternatives = chooses;
  info.lossless = {{"cap", "65536"}, {"tolerance", "0"}};
  // Counts A and Δ of all sites, an upper bound, next to rows that accumulate over steps. With a choice by bytes, A and
  // Δ are taken only if smaller than twice the gradient. They send (S + 1) or (S − 1) times as many numbers, and
  // gradients 2 S or 2 (S − 1) times theirs.
  info.state = [](const spec::ParameterValues& values) {
    const step::Expression rows = step::extent::all_rows() * (step::extent::in() + step::extent::out());
    if (!chooses(values) && Of::kDefault.of(values) == Statistic::gradient) return estimate::AlgorithmState{};
    if (Of::kPolicy.of(values) == Policy::bytes) {
      return estimate::AlgorithmState{step::extent::min({rows, 2.0 * step::extent::parameters()})};
    }
    return estimate::AlgorithmState{rows};
  };
  // Returns the rank of layers shared as in rank-dAD.
  info.retained_rank = [](const spec::ParameterValues& values) {
    using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
    const step::Expression all = min({in_with_bias(), delta_directions(), all_rows()});
    return RetainedRank{min({static_cast<double>(Of::kCap.of(values)), all}), all};
  };
  return info;
}

}  // namespace dadsim::algorithms
